// Measures the accuracy of a workflow's predicted end, before it starts and while it runs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "bench/workflow/cases.h"
#include "bench/workflow/events.h"
#include "bench/workflow/indicators.h"
#include "bench/workflow/judge.h"
#include "bench/workflow/local.h"
#include "bench/workflow/report.h"

namespace tidemark::bench {
namespace {

// The suite of workflows that really run. Each is evaluated with the previous one as its history.
absl::StatusOr<Judged> JudgeLocal(const LocalOptions& local, const JudgeOptions& options) {
  const absl::StatusOr<LocalRuns> runs = RunLocally(local);
  if (!runs.ok()) return runs.status();
  std::vector<PastRun> profiles;
  for (const Trace& trace : runs->traces) profiles.push_back(RunOf(trace));
  Suite suite = {.name = "local"};
  for (std::size_t i = 1; i < profiles.size(); ++i) {
    suite.cases.push_back({&runs->traces[i], {&profiles[i - 1]}});
  }
  // The values of tidemark are the published ones.
  JudgeOptions others = options;
  std::erase(others.indicators, "tidemark");
  Judged judged = Judge(suite, others);
  judged.rows.push_back(runs->live);
  return judged;
}

int Run(int argc, char** argv) {
  CLI::App app("Measures the accuracy of predicted ends of workflows.");
  Sources sources = {.data = std::string(TIDEMARK_ROOT) + "/../shared/data",
                     .repository = std::string(TIDEMARK_ROOT) + "/data"};
  JudgeOptions options = {.indicators = IndicatorNames()};
  options.indicators.push_back("oracle");
  std::string wanted;
  std::string json_path;
  LocalOptions local = {.worker_command = {TIDEMARK_WORKER, "worker"}};
  app.add_option("--suite", wanted, "Run only suites whose name begins with this text");
  app.add_option("--data", sources.data, "Directory of the data sets")->envname("TIDEMARK_DATA");
  app.add_option("--tpch", sources.tpch_files, "Task times of queries, instead of the data set");
  app.add_option("--spark-log", sources.spark_logs, "Spark event logs, instead of the data set");
  app.add_option("--indicators", options.indicators, "Indicators to compute, separated by commas")
      ->delimiter(',');
  app.add_option("--updates", options.updates, "Number of updates of a live run")
      ->check(CLI::Range(2, 10'000));
  app.add_option("--local-runs", local.runs,
                 "Number of runs of suite local; the first is not evaluated")
      ->check(CLI::Range(2, 1000));
  app.add_option("--local-visits", local.visits, "Number of visits per run")
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
  if (judged.empty()) fmt::print("no data set has that name\n");
  if (json_path.empty()) return 0;
  std::ofstream file(json_path);
  file << WorkflowJson(judged);
  return file.good() ? 0 : 1;
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) { return tidemark::bench::Run(argc, argv); }
