// The program tidemark_accuracy_bench. --help lists its options, and docs/internals/accuracy.md
// describes the method.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/accuracy/data_sets.h"
#include "bench/accuracy/judge_log.h"
#include "bench/accuracy/replay.h"
#include "bench/accuracy/report.h"
#include "bench/accuracy/rows.h"
#include "bench/accuracy/scenario.h"
#include "examples/local_mapreduce/file_io.h"
#include "examples/local_mapreduce/run.h"
#include "tidemark/job_monitor.h"

namespace tidemark::bench {
namespace {

struct Arguments {
  std::vector<std::string> suites;
  std::vector<std::string> rows;  // substrings of row names; if empty, all rows run
  // A job with its inputs, which replaces the suites.
  std::string job;
  std::vector<std::string> inputs;
  std::map<std::string, std::string> parameters;
  std::string scenario;
  std::string log;  // an event log, which replaces suites and job
  // If set, they replace the values of the rows.
  std::optional<std::uint32_t> workers;
  std::optional<std::uint32_t> waves;
  ReplayOptions replay;
  DataPlaces places;
  std::string json_path;
  std::string curves_path;
};

// The arguments, or an exit code after --help or an error message.
struct Parsed {
  std::optional<Arguments> arguments;
  int exit_code = 0;
};

constexpr char kRoot[] = TIDEMARK_ROOT;

// Returns all indicators except variants with a moving average or without neighbours.
std::vector<std::string> DefaultIndicators() {
  std::vector<std::string> names = KnownIndicators();
  std::erase_if(names,
                [](const std::string& name) { return name.ends_with("-ewma") || name == "fit"; });
  return names;
}

std::vector<std::string> ScenarioNames() {
  std::vector<std::string> names;
  for (const Scenario& scenario : AllScenarios()) names.push_back(scenario.name);
  return names;
}

void AddRows(CLI::App& app, Arguments& arguments) {
  auto* suite = app.add_option("--suite", arguments.suites, "Suites to run [paper]")
                    ->check(CLI::IsMember(SuiteNames()));
  app.add_option("--row", arguments.rows, "Run only rows whose name contains one of these texts")
      ->delimiter(',');
  auto* job =
      app.add_option("--job", arguments.job, "Run this job on your own data instead of a suite")
          ->check(CLI::IsMember(examples::JobNames()))
          ->excludes(suite);
  app.add_option("--log", arguments.log, "Evaluate the event log of a past run instead of a suite")
      ->check(CLI::ExistingFile)
      ->excludes(suite)
      ->excludes(job);
  app.add_option("--input,--graph,--text", arguments.inputs,
                 "Input files of the job, plain or .zst")
      ->needs(job);
  app.add_option_function<std::vector<std::string>>(
         "--set",
         [&arguments](const std::vector<std::string>& settings) {
           for (const std::string& setting : settings) {
             const std::size_t equals = setting.find('=');
             if (equals == std::string::npos) throw CLI::ValidationError("--set", "NAME=VALUE");
             arguments.parameters[setting.substr(0, equals)] = setting.substr(equals + 1);
           }
         },
         "NAME=VALUE: a parameter of the job")
      ->needs(job);
  app.add_option("--scenario", arguments.scenario, "Fault or disturbance of the job")
      ->check(CLI::IsMember(ScenarioNames()))
      ->needs(job);
}

void AddCluster(CLI::App& app, Arguments& arguments) {
  app.add_option("--workers", arguments.workers,
                 "Number of machines, including one for the application master")
      ->check(CLI::Range(2, 10'000));
  app.add_option("--waves", arguments.waves, "Number of reduce tasks per other machine")
      ->check(CLI::Range(1, 1'000));
  app.add_option("--seeds", arguments.replay.seeds, "Number of runs per row")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--lambda", arguments.replay.lambda, "Explicit keys per map task")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--indicators", arguments.replay.indicators,
                 "Indicators to compute, separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember(KnownIndicators()));
}

void AddPlaces(CLI::App& app, Arguments& arguments) {
  arguments.places = {.data = std::string(kRoot) + "/../shared/data",
                      .repository = std::string(kRoot) + "/data",
                      .cache = std::string(kRoot) + "/build/bench/cost-logs"};
  app.add_option("--data", arguments.places.data, "Directory that contains graphs/ and text/")
      ->envname("TIDEMARK_DATA");
  app.add_option("--cache", arguments.places.cache,
                 "Directory for measured costs and generated inputs");
  app.add_flag("--remeasure", arguments.replay.remeasure,
               "Measure again even if a measurement exists");
  app.add_option("--json", arguments.json_path, "Write the results to this file");
  app.add_option("--curves", arguments.curves_path,
                 "Write every prediction to this file, as JSON lines");
  app.add_option("--jobs", arguments.replay.jobs, "Number of rows to replay in parallel")
      ->check(CLI::Range(1, 256));
}

Parsed ParseCommandLine(int argc, char** argv) {
  CLI::App app(
      "Measures the accuracy of progress indicators: replays measured costs in virtual time.");
  app.option_defaults()->always_capture_default();
  Arguments arguments;
  AddRows(app, arguments);
  AddCluster(app, arguments);
  AddPlaces(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return {.exit_code = app.exit(error)};
  }
  if (arguments.suites.empty()) arguments.suites = {"paper"};
  ReplayOptions& replay = arguments.replay;
  if (replay.indicators.empty()) replay.indicators = DefaultIndicators();
  replay.cost_logs = arguments.places.cache;
  replay.keep_curves = !arguments.curves_path.empty();
  return {.arguments = std::move(arguments)};
}

void Adjust(const Arguments& arguments, Row& row) {
  row.workers = arguments.workers.value_or(row.workers);
  row.waves = arguments.waves.value_or(row.waves);
}

absl::StatusOr<std::vector<RowResult>> RunSuites(const Arguments& arguments) {
  std::vector<Row> rows;
  for (const std::string& suite : arguments.suites) {
    absl::StatusOr<std::vector<Row>> of_suite = RowsOf(suite);
    if (!of_suite.ok()) return of_suite.status();
    for (Row& row : *of_suite) {
      Adjust(arguments, row);
      const bool is_wanted = std::any_of(
          arguments.rows.begin(), arguments.rows.end(),
          [&](const std::string& part) { return row.name().find(part) != std::string::npos; });
      if (is_wanted || arguments.rows.empty()) rows.push_back(std::move(row));
    }
  }
  return ReplayRows(rows, DataSets(arguments.places), arguments.replay);
}

absl::StatusOr<std::vector<RowResult>> RunJob(const Arguments& arguments) {
  Row row = {.suite = "own", .job = arguments.job, .scenario = arguments.scenario};
  for (const std::string& path : arguments.inputs) {
    if (!row.data.empty()) row.data += "+";
    row.data += std::filesystem::path(path).stem().stem().string();
  }
  for (const auto& [name, value] : arguments.parameters) {
    row.data += fmt::format("-{}-{}", name, value);
  }
  // The maximum length of a file name, which must identify its content.
  constexpr std::size_t kNameMax = 100;
  row.data.resize(std::min(row.data.size(), kNameMax));
  Adjust(arguments, row);
  absl::StatusOr<RowResult> result = ReplayRow(
      row, {.job = arguments.job, .paths = arguments.inputs, .parameters = arguments.parameters},
      arguments.replay);
  if (!result.ok()) return result.status();
  std::vector<RowResult> results;
  results.push_back(*std::move(result));
  return results;
}

absl::StatusOr<std::vector<RowResult>> RunLog(const Arguments& arguments) {
  absl::StatusOr<JudgedLog> judged = JudgeLog(arguments.log, arguments.replay.indicators);
  if (!judged.ok()) return judged.status();
  RowResult result = {.row = {.suite = "own",
                              .job = std::filesystem::path(arguments.log).stem().string(),
                              .is_live = true},
                      .indicators = arguments.replay.indicators};
  result.runs.push_back(MeasureRun(std::move(judged->simulation), 1, arguments.replay.keep_curves));
  return std::vector<RowResult>{std::move(result)};
}

absl::StatusOr<std::vector<RowResult>> RunAny(const Arguments& arguments) {
  if (!arguments.log.empty()) return RunLog(arguments);
  return arguments.job.empty() ? RunSuites(arguments) : RunJob(arguments);
}

absl::Status Run(const Arguments& arguments) {
  const auto before = std::chrono::steady_clock::now();
  absl::StatusOr<std::vector<RowResult>> results = RunAny(arguments);
  if (!results.ok()) return results.status();
  fmt::print("{}", TableOf(*results));
  double tick_seconds = 0;
  for (const RowResult& result : *results) tick_seconds += result.tick_seconds;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - before;
  fmt::print(stderr, "took {:.1f} s; an update of all indicators {:.2f} ms\n", elapsed.count(),
             results->empty() ? 0 : 1000 * tick_seconds / static_cast<double>(results->size()));
  if (!arguments.json_path.empty()) {
    absl::Status written = examples::WriteWholeFile(arguments.json_path, JsonOf(*results));
    if (!written.ok()) return written;
  }
  if (arguments.curves_path.empty()) return absl::OkStatus();
  return examples::WriteWholeFile(arguments.curves_path, CurvesOf(*results));
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) {
  // This process is a worker of a live row.
  if (argc > 1 && std::string_view(argv[1]) == "worker") {
    return tidemark::examples::WorkerMain({argv + 2, argv + argc});
  }
  const tidemark::bench::Parsed parsed = tidemark::bench::ParseCommandLine(argc, argv);
  if (!parsed.arguments) return parsed.exit_code;
  const absl::Status status = tidemark::bench::Run(*parsed.arguments);
  if (status.ok()) return 0;
  fmt::print(stderr, "{}\n", std::string(status.message()));
  return 1;
}
