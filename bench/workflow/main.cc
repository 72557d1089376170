// Measures the accuracy of the predicted end of workflows, before they start and while they run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/workflow/cases.h"
#include "bench/workflow/events.h"
#include "bench/workflow/indicators.h"
#include "bench/workflow/judge.h"
#include "bench/workflow/local.h"

namespace tidemark::bench {
namespace {

using nlohmann::ordered_json;

using Field = std::pair<const char*, std::optional<double> Verdict::*>;
constexpr Field kFields[] = {{"makespan_err_mean", &Verdict::makespan_err_mean},
                             {"makespan_err_p90", &Verdict::makespan_err_p90},
                             {"avg_err", &Verdict::avg_err},
                             {"shown_err", &Verdict::shown_err},
                             {"max_err", &Verdict::max_err},
                             {"end_err", &Verdict::end_err},
                             {"remaining_err_10", &Verdict::remaining_err_10},
                             {"remaining_err_25", &Verdict::remaining_err_25},
                             {"remaining_err_50", &Verdict::remaining_err_50},
                             {"remaining_err_75", &Verdict::remaining_err_75},
                             {"remaining_err_90", &Verdict::remaining_err_90},
                             {"coverage90", &Verdict::coverage90},
                             {"even_coverage", &Verdict::even_coverage},
                             {"width90", &Verdict::width90},
                             {"ratio50", &Verdict::ratio50},
                             {"backward_shown", &Verdict::backward_shown},
                             {"query_err", &Verdict::query_err},
                             {"query_tasks_err", &Verdict::query_tasks_err}};

// Returns the value with five significant digits.
double Rounded(double value) { return std::stod(fmt::format("{:.5g}", value)); }

ordered_json JsonOf(const Verdict& verdict) {
  ordered_json json = {{"cases", verdict.cases}};
  for (const auto& [name, member] : kFields) {
    const std::optional<double>& value = verdict.*member;
    json[name] = value ? ordered_json(Rounded(*value)) : ordered_json(nullptr);
  }
  if (verdict.avg_err) json["late"] = LatenessJson(verdict.late);
  if (verdict.queries > 0) {
    json["queries"] = verdict.queries;
    json["queries_behind"] = verdict.queries_behind;
  }
  return json;
}

// A data set, with one suite for predictions during runs and another for predictions before the
// start from one past run.
struct DataSet {
  const char* name;
  std::vector<const char*> suites;  // a value comes from the first suite that has it
};
const std::vector<DataSet>& DataSets() {
  static const auto* const kSets =
      new std::vector<DataSet>{{"tpch", {"tpch-live", "tpch-one-profile"}},
                               {"tpcds", {"tpcds-live-one-run", "tpcds-one-run"}},
                               {"mix", {"mix-fair"}}};
  return *kSets;
}

void AddDataSets(ordered_json& suites) {
  for (const auto& [name, parts] : DataSets()) {
    ordered_json whole = ordered_json::object();
    for (const char* part : parts) {
      if (!suites.contains(part)) continue;
      for (const auto& [indicator, fields] : suites[part].items()) {
        for (const auto& [field, value] : fields.items()) {
          ordered_json& target = whole[indicator][field];
          if (target.is_null()) target = value;
        }
      }
    }
    if (!whole.empty()) suites[name] = std::move(whole);
  }
}

std::string Cell(const std::optional<double>& value, double times, int digits) {
  return value ? fmt::format("{:.{}f}", *value * times, digits) : "-";
}

std::string LineOf(const std::string& name, const Verdict& v) {
  return fmt::format("  {:<18}{:>6}{:>9}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>7}{:>7}{:>7}{:>8}\n", name,
                     v.cases, Cell(v.makespan_err_mean, 100, 1), Cell(v.makespan_err_p90, 100, 1),
                     Cell(v.avg_err, 1, 2), Cell(v.shown_err, 1, 2), Cell(v.max_err, 1, 1),
                     Cell(v.end_err, 100, 1), Cell(v.remaining_err_50, 100, 1),
                     Cell(v.coverage90, 1, 2), Cell(v.even_coverage, 1, 2), Cell(v.width90, 1, 2),
                     Cell(v.ratio50, 1, 2));
}

std::string QueriesOf(const std::string& name, const Verdict& v) {
  if (v.queries == 0) return "";
  return fmt::format("  {:<18}{:>6} queries: shown {}, task count {}, {} worse than it\n", name,
                     v.queries, Cell(v.query_err, 1, 2), Cell(v.query_tasks_err, 1, 2),
                     v.queries_behind);
}

std::string WorkflowTable(const std::vector<Judged>& suites) {
  std::string table;
  for (const Judged& suite : suites) {
    table +=
        fmt::format("{}\n  {:<18}{:>6}{:>9}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>7}{:>7}{:>7}{:>8}\n",
                    suite.suite, "", "cases", "end %", "p90 %", "avgErr", "shown", "maxErr",
                    "end %", "at 50", "cover", "even", "width", "ratio50");
    for (const Row& row : suite.rows) {
      table += LineOf(row.indicator, row.all);
      if (row.indicator == "tidemark") table += LineOf("  held-out half", row.held_out);
      table += QueriesOf(row.indicator, row.all) + QueriesOf("  held-out half", row.held_out);
    }
  }
  return table;
}

// Returns {"suites": {SUITE: {INDICATOR: {"makespan_err_mean": ..., "held_out": {...}}}}}. Errors
// are shares of the duration, except avg_err and max_err, which are in points. A missing value is
// null. Next to "suites" is "behind": {INDICATOR: SuitesBehind(), "held_out": {INDICATOR: ...}}.
std::string WorkflowJson(const std::vector<Judged>& suites) {
  ordered_json json = {{"suites", ordered_json::object()}};
  for (const Judged& suite : suites) {
    ordered_json& of_suite = json["suites"][suite.suite] = ordered_json::object();
    for (const Row& row : suite.rows) {
      of_suite[row.indicator] = JsonOf(row.all);
      of_suite[row.indicator]["held_out"] = JsonOf(row.held_out);
    }
  }
  AddDataSets(json["suites"]);
  std::set<std::string> indicators;
  for (const Judged& suite : suites) {
    for (const Row& row : suite.rows) indicators.insert(row.indicator);
  }
  ordered_json& behind = json["behind"] = ordered_json::object();
  for (const std::string& name : indicators) behind[name] = SuitesBehind(suites, name, &Row::all);
  for (const std::string& name : indicators) {
    behind["held_out"][name] = SuitesBehind(suites, name, &Row::held_out);
  }
  return json.dump(1) + "\n";
}

// Returns the suite of live workflows. Each run is evaluated with the previous run as its history.
absl::StatusOr<Judged> JudgeLocal(const LocalOptions& local, const JudgeOptions& options) {
  const absl::StatusOr<LocalRuns> runs = RunLocally(local);
  if (!runs.ok()) return runs.status();
  std::vector<PastRun> profiles;
  for (const Trace& trace : runs->traces) profiles.push_back(RunOf(trace));
  Suite suite = {.name = "local"};
  for (std::size_t i = 1; i < profiles.size(); ++i) {
    suite.cases.push_back({&runs->traces[i], {&profiles[i - 1]}});
  }
  // The values for tidemark are the published values.
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
  std::string curves_path;
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
  app.add_option("--curves", curves_path,
                 "Write every live prediction to this file, as JSON lines");
  CLI11_PARSE(app, argc, argv);
  Library library;
  const absl::StatusOr<std::vector<Suite>> suites = library.Load(sources, wanted);
  if (!suites.ok()) {
    fmt::print(stderr, "{}\n", suites.status().ToString());
    return 1;
  }
  std::ofstream curves;
  if (!curves_path.empty()) {
    curves.open(curves_path);
    options.on_run = [&curves](const std::string& suite, const std::string& indicator,
                               const Trace& run, std::span<const Prediction> predictions) {
      curves << ordered_json{{"suite", suite},           {"name", run.name},
                             {"held_out", run.held_out}, {"end", run.end},
                             {"indicator", indicator},   {"updates", PredictionsJson(predictions)}}
             << "\n";
    };
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
