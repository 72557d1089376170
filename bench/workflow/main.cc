// How well the end of a workflow is predicted, before it starts and while it runs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "bench/workflow/cases.h"
#include "bench/workflow/indicators.h"
#include "bench/workflow/judge.h"
#include "bench/workflow/local.h"
#include "bench/workflow/report.h"

namespace tidemark::bench {
namespace {

// A layered DAG: every stage waits for one or two of the ten before it.
workflow::WorkflowNow AnyWorkflow(std::size_t stages, std::size_t tasks) {
  workflow::WorkflowNow now;
  for (std::size_t i = 0; i < stages; ++i) {
    workflow::StageNow stage = {.name = std::to_string(i), .tasks = tasks / stages};
    if (i >= 2) stage.parents = {i - 1 - i % std::min<std::size_t>(i, 10), i - 2};
    now.stages.push_back(stage);
  }
  return now;
}

// Processor time: what one core takes, whatever else the machine does.
double ThreadMilliseconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

double MillisecondsOf(std::size_t stages, std::size_t tasks,
                      const workflow::StagesOptions& options) {
  const workflow::WorkflowNow now = AnyWorkflow(stages, tasks);
  workflow::WorkflowProfile profile = {.slots = 50};
  for (const workflow::StageNow& stage : now.stages) {
    workflow::StageProfile of_stage = {
        .name = stage.name, .parents = stage.parents, .tasks = stage.tasks};
    for (std::size_t k = 0; k < stage.tasks; ++k) {
      of_stage.seconds[static_cast<std::size_t>(workflow::Warmth::kRest)].push_back(
          5 + static_cast<double>(k % 7));
    }
    profile.stages.push_back(of_stage);
  }
  const std::vector<const workflow::WorkflowProfile*> history = {&profile};
  const schedule::Resourcing on = {.cluster = {.capacity = {.cores = 100}}};
  std::vector<double> times;
  for (int repetition = 0; repetition < 9; ++repetition) {
    const double start = ThreadMilliseconds();
    if (!estimate::EstimateApplication(workflow::ApplicationOfStages(now, history, on, options))
             .ok()) {
      return -1;
    }
    times.push_back(ThreadMilliseconds() - start);
  }
  std::nth_element(times.begin(), times.begin() + 4, times.end());
  return times[4];
}

// The suite of workflows that really run: each is judged with the one before it as its history.
absl::StatusOr<Judged> JudgeLocal(const LocalOptions& local, const JudgeOptions& options) {
  const absl::StatusOr<LocalRuns> runs = RunLocally(local);
  if (!runs.ok()) return runs.status();
  std::vector<workflow::WorkflowProfile> profiles;
  for (const Trace& trace : runs->traces) profiles.push_back(ProfileOf(trace));
  Suite suite = {.name = "local"};
  for (std::size_t i = 1; i < profiles.size(); ++i) {
    suite.cases.push_back({&runs->traces[i], {&profiles[i - 1]}});
  }
  Judged judged = Judge(suite, options);
  judged.rows.push_back(runs->live);
  return judged;
}

int Run(int argc, char** argv) {
  CLI::App app("How well the end of a workflow is predicted.");
  Sources sources = {.data = std::string(TIDEMARK_ROOT) + "/../shared/data",
                     .repository = std::string(TIDEMARK_ROOT) + "/data"};
  JudgeOptions options = {.indicators = IndicatorNames()};
  options.indicators.push_back("oracle");
  std::string wanted;
  std::string json_path;
  LocalOptions local = {.worker_command = {TIDEMARK_WORKER, "worker"}};
  app.add_option("--suite", wanted, "Only suites whose name begins so");
  app.add_option("--data", sources.data, "Where the data sets are")->envname("TIDEMARK_DATA");
  app.add_option("--tpch", sources.tpch_files, "Task times of queries, instead of the data set's");
  app.add_option("--spark-log", sources.spark_logs, "Spark event logs, instead of the data set's");
  app.add_option("--indicators", options.indicators, "Which ones")->delimiter(',');
  app.add_option("--updates", options.updates, "Looks at a live run")->check(CLI::Range(2, 10'000));
  app.add_option("--local-runs", local.runs, "Runs of the suite local; the first is not judged")
      ->check(CLI::Range(2, 1000));
  app.add_option("--local-visits", local.visits, "Visits in each of them")
      ->check(CLI::Range(std::uint64_t{1000}, std::uint64_t{1'000'000'000}));
  app.add_option("--json", json_path, "Write the results to this file");
  CLI11_PARSE(app, argc, argv);
  Library library;
  const absl::StatusOr<std::vector<Suite>> suites = library.Load(sources, wanted);
  if (!suites.ok()) {
    fmt::print(stderr, "{}\n", suites.status().ToString());
    return 1;
  }
  std::vector<Judged> judged;
  for (const Suite& suite : *suites) {
    judged.push_back(Judge(suite, options));
    fmt::print("{}", WorkflowTable({judged.back()}));
    std::fflush(stdout);
  }
  const bool wants_local = std::string("local").starts_with(wanted);
  if (wants_local) {
    const absl::StatusOr<Judged> ran = JudgeLocal(local, options);
    if (!ran.ok()) {
      fmt::print(stderr, "{}\n", ran.status().ToString());
      return 1;
    }
    judged.push_back(*ran);
    fmt::print("{}", WorkflowTable({*ran}));
  }
  if (judged.empty()) fmt::print("no data set of that name is here\n");
  const EstimateCost cost = {.s50_t5000 = MillisecondsOf(50, 5'000, options.tidemark),
                             .s1000_t10000 = MillisecondsOf(1'000, 10'000, options.tidemark)};
  fmt::print("one estimate: {:.1f} ms (50 stages, 5,000 tasks), {:.1f} ms (1,000 stages, 10,000)\n",
             cost.s50_t5000, cost.s1000_t10000);
  if (json_path.empty()) return 0;
  std::ofstream file(json_path);
  file << WorkflowJson(judged, cost);
  return file.good() ? 0 : 1;
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) { return tidemark::bench::Run(argc, argv); }
