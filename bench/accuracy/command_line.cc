#include "bench/accuracy/command_line.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "bench/accuracy/rows.h"
#include "bench/accuracy/scenario.h"
#include "examples/local_mapreduce/run.h"
#include "tidemark/job_monitor.h"

namespace tidemark::bench {
namespace {

constexpr char kRoot[] = TIDEMARK_ROOT;

// All indicators except variants with a moving average.
std::vector<std::string> DefaultIndicators() {
  std::vector<std::string> names = KnownIndicators();
  std::erase_if(names, [](const std::string& name) { return name.ends_with("-ewma"); });
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
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--lambda", arguments.replay.lambda, "Explicit keys per map task")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
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
      ->envname("TIDEMARK_DATA")
      ->capture_default_str();
  app.add_option("--cache", arguments.places.cache,
                 "Directory for measured costs and generated inputs")
      ->capture_default_str();
  app.add_flag("--remeasure", arguments.replay.remeasure,
               "Measure again even if a measurement exists");
  app.add_option("--json", arguments.json_path, "Write the results to this file");
  app.add_option("--curves", arguments.curves_path,
                 "Write every prediction to this file, as JSON lines");
  app.add_option("--jobs", arguments.replay.jobs, "Number of rows to replay in parallel")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
}

}  // namespace

Parsed ParseCommandLine(int argc, char** argv) {
  CLI::App app(
      "Measures the accuracy of progress indicators: replays measured costs in virtual time.");
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

}  // namespace tidemark::bench
