#include "bench/accuracy/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "bench/accuracy/live.h"
#include "bench/accuracy/maps.h"
#include "bench/accuracy/measure.h"
#include "bench/accuracy/scenario.h"
#include "examples/local_mapreduce/file_io.h"

namespace tidemark::bench {
namespace {

std::string CostLogPath(const Row& row, const ReplayOptions& options) {
  return examples::PathOf(options.cost_logs, row.cost_log_name() + ".cost");
}

absl::StatusOr<RowResult> ReplayLog(const Row& row, CostLog log, const ReplayOptions& options) {
  absl::StatusOr<Scenario> scenario = FindScenario(row.scenario);
  if (!scenario.ok()) return scenario.status();
  if (scenario->change_costs != nullptr) scenario->change_costs(log);
  SimulationOptions simulated = {.slots = row.slots(),
                                 .reduce_tasks = row.slots() * row.waves,
                                 .lambda = row.lambda > 0 ? row.lambda : options.lambda,
                                 .indicators = options.indicators,
                                 .scenario = *scenario};
  RowResult result = {.row = row};
  for (std::uint64_t seed = 1; seed <= options.seeds; ++seed) {
    simulated.seed = seed;
    absl::StatusOr<Simulation> simulation = Simulate(log, simulated);
    if (!simulation.ok()) return simulation.status();
    result.indicators.clear();
    for (const IndicatorRecord& record : simulation->records) {
      result.indicators.push_back(record.indicator);
    }
    if (simulation->refused_events > 0 && scenario->lost_events == 0) {
      return absl::InternalError(
          fmt::format("the monitor rejected {} events", simulation->refused_events));
    }
    result.tick_seconds +=
        simulation->tick_seconds / simulated.updates / static_cast<double>(options.seeds);
    result.runs.push_back(MeasureRun(*std::move(simulation), seed, options.keep_curves));
  }
  return result;
}

absl::Status WhereIs(const Row& row, const absl::Status& status) {
  return status.ok() ? status : examples::Annotate(status, row.name());
}

}  // namespace

RunResult MeasureRun(Simulation simulation, std::uint64_t seed, bool keep_curves) {
  RunResult run = {.seed = seed};
  for (const IndicatorRecord& record : simulation.records) {
    run.metrics.push_back(Measure(record.predictions, 0, simulation.timeline.end));
    run.lateness.push_back(MeasureLateness(record.predictions, 0, simulation.timeline.end));
  }
  if (keep_curves) run.simulation = std::move(simulation);
  return run;
}

absl::StatusOr<RowResult> ReplayRow(const Row& row, const JobInputs& inputs,
                                    const ReplayOptions& options) {
  absl::Status made = examples::MakeDirectories(options.cost_logs);
  if (!made.ok()) return made;
  const std::string path = CostLogPath(row, options);
  absl::Status measured = EnsureMeasured(inputs, path, options.remeasure);
  if (!measured.ok()) return WhereIs(row, measured);
  absl::StatusOr<CostLog> log = LoadCostLog(path);
  if (!log.ok()) return log.status();
  absl::StatusOr<RowResult> result = ReplayLog(row, *std::move(log), options);
  if (!result.ok()) return WhereIs(row, result.status());
  return result;
}

absl::StatusOr<std::vector<RowResult>> ReplayRows(const std::vector<Row>& rows,
                                                  const DataSets& data_sets,
                                                  const ReplayOptions& options) {
  absl::Status made = examples::MakeDirectories(options.cost_logs);
  if (!made.ok()) return made;
  struct Task {
    Row row;
    JobInputs inputs;
    std::optional<absl::StatusOr<RowResult>> result;
  };
  std::vector<Task> tasks;
  for (const Row& row : rows) {
    absl::StatusOr<JobInputs> inputs = InputsOf(row, data_sets);
    if (absl::IsNotFound(inputs.status())) {
      fmt::print(stderr, "skipped: {}: {}\n", row.name(), std::string(inputs.status().message()));
      continue;
    }
    if (!inputs.ok()) return WhereIs(row, inputs.status());
    if (row.is_live || row.only_maps) {
      tasks.push_back({.row = row, .inputs = *std::move(inputs)});
      continue;
    }
    const bool is_known = std::any_of(tasks.begin(), tasks.end(), [&](const Task& task) {
      return task.row.cost_log_name() == row.cost_log_name();
    });
    const absl::Status measured =
        EnsureMeasured(*inputs, CostLogPath(row, options), options.remeasure && !is_known);
    if (!measured.ok()) return WhereIs(row, measured);
    tasks.push_back({.row = row, .inputs = *std::move(inputs)});
  }

  ReplayOptions replayed = options;
  replayed.remeasure = false;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks.size(); i = next++) {
      if (tasks[i].row.is_live) continue;
      const auto& run = tasks[i].row.only_maps ? RunMaps : ReplayRow;
      tasks[i].result = run(tasks[i].row, tasks[i].inputs, replayed);
      if (!tasks[i].result->ok()) next = tasks.size();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < options.jobs; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  for (const Task& task : tasks) {
    if (task.result && !task.result->ok()) return task.result->status();
  }
  for (Task& task : tasks) {
    if (!task.row.is_live) continue;
    task.result = RunLive(task.row, task.inputs, replayed);
    if (!task.result->ok()) return task.result->status();
  }
  std::vector<RowResult> results;
  results.reserve(tasks.size());
  for (Task& task : tasks) results.push_back(**std::move(task.result));
  return results;
}

}  // namespace tidemark::bench
