#include "bench/accuracy/maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "bench/accuracy/random.h"
#include "bench/accuracy/thread_clock.h"
#include "bench/workflow/events.h"
#include "bench/workflow/rumen.h"
#include "bench/workflow/virtual_cluster.h"
#include "master/facts/fold.h"
#include "master/facts/phases.h"
#include "master/forecast/durations/early_forecast.h"
#include "tidemark/job_monitor.h"

namespace tidemark::bench {
namespace {

// The input of one map task, which consists of one or several splits.
struct InputSplit {
  double seconds = 0;
  std::optional<std::uint64_t> bytes;
};
using Splits = std::vector<InputSplit>;

void Add(const InputSplit& more, InputSplit& file) {
  file.seconds += more.seconds;
  if (file.bytes && more.bytes) *file.bytes += *more.bytes;
}

// Creates files of `next_count()` splits. One task reads each file.
template <typename NextCount>
Splits Merge(const Splits& splits, NextCount next_count) {
  Splits files;
  for (std::size_t i = 0; i < splits.size();) {
    InputSplit file = splits[i];
    const std::size_t end = std::min(splits.size(), i + next_count());
    while (++i < end) Add(splits[i], file);
    files.push_back(file);
  }
  return files;
}

Splits SomeWholeFiles(const Splits& splits) {
  constexpr std::size_t kSplitsOfFile = 10;
  constexpr std::size_t kWholeOneIn = 4;
  std::size_t split = 0;
  return Merge(splits, [&] {
    const bool is_whole = split % (kSplitsOfFile * kWholeOneIn) == 0;
    const std::size_t count = is_whole ? kSplitsOfFile : 1;
    split += count;
    return count;
  });
}

Splits SkewedFiles(const Splits& splits, Random& random) {
  // With a Pareto distribution, most files have one split and few have tens. Chosen by hand.
  constexpr double kExponent = 1.2;
  constexpr double kSplitsMax = 40;
  return Merge(splits, [&] {
    const double count = std::pow(random.Uniform(), -1 / kExponent);
    return static_cast<std::size_t>(std::min(count, kSplitsMax));
  });
}

void Shuffle(Random& random, Splits& splits) {
  for (std::size_t i = splits.size(); i > 1; --i) {
    std::swap(splits[i - 1], splits[random.Next() % i]);
  }
}

}  // namespace

Trace MapPhaseOf(const Trace& maps, const Row& row, std::uint64_t seed) {
  Splits splits;
  for (const TraceTask& task : maps.stages.front().tasks) {
    splits.push_back({task.end - task.start, task.bytes});
  }
  Random random(seed);
  if (seed > 1) Shuffle(random, splits);
  const bool is_sorted = row.scenario == kSmallestFirst || row.scenario == kLargestFirst;
  if (row.scenario == kWholeFiles) splits = SomeWholeFiles(splits);
  if (row.scenario == kSkewedFiles || is_sorted) splits = SkewedFiles(splits, random);
  if (row.scenario == kNoSizes) {
    for (InputSplit& split : splits) split.bytes.reset();
  }
  if (is_sorted) {
    std::ranges::stable_sort(splits, {},
                             [](const InputSplit& split) { return split.bytes.value_or(0); });
  }
  if (row.scenario == kLargestFirst) std::ranges::reverse(splits);

  MeasuredStage stage = {.name = "map"};
  for (const InputSplit& split : splits) stage.seconds.push_back(split.seconds);
  Trace trace = RunOnVirtualCluster({stage}, row.slots(), placement::Policy::kFifo);
  trace.name = maps.name;
  trace.stages[0].kind = StageKind::kMap;
  for (std::size_t i = 0; i < splits.size(); ++i) {
    trace.stages[0].tasks[i].bytes = splits[i].bytes;
  }
  return trace;
}

absl::StatusOr<Simulation> ReplayMaps(const Trace& trace, int updates) {
  Simulation simulation;
  for (std::uint32_t i = 0; i < trace.stages[0].tasks.size(); ++i) {
    const TraceTask& task = trace.stages[0].tasks[i];
    simulation.timeline.attempts.push_back(
        {.task = i, .slot = task.executor.value_or(0), .start = task.start, .end = task.end});
  }
  simulation.timeline.end = trace.end;
  simulation.records = {{"tidemark", {}}, {"map-pace", {}}, {"bytes-done", {}}, {"tasks-done", {}}};
  JobMonitor monitor(trace.name, {.indicators = {"tidemark"}, .abandon_after = absl::Hours(1'000)});
  facts::JobRecord state(/*lambda=*/1);
  absl::Status refused;
  const auto take = [&](const Event& event) {
    refused.Update(monitor.Apply(event));
    refused.Update(facts::Apply(event, {}, state));
  };
  Replay replay(trace);
  for (int update = 1; update <= updates; ++update) {
    const double now = trace.end * update / updates;
    replay.Until(now, take);
    if (!refused.ok()) return refused;
    const double before = ThreadSeconds();
    const Snapshot snapshot = monitor.Tick(At(now));
    simulation.tick_seconds += ThreadSeconds() - before;
    const StageProgress& maps = snapshot.stages.at(0);
    const auto say = [&](std::size_t record, Prediction said) {
      simulation.records[record].predictions.push_back(said);
    };
    const auto straight_on = [now](double done) {
      Prediction said = {.at = now};
      if (done > 0) said.end = now / done;
      return said;
    };
    Prediction by_pace = {.at = now};
    if (const auto end = durations::MapPhaseEnd(state, At(now))) {
      by_pace.end = absl::ToDoubleSeconds(*end - At(0));
    }
    say(0, PredictionOf(snapshot, "tidemark", now));
    say(1, by_pace);
    say(2, straight_on(maps.fraction_done));
    say(3, straight_on(static_cast<double>(maps.finished_tasks) / static_cast<double>(maps.tasks)));
  }
  return simulation;
}

absl::StatusOr<RowResult> RunMaps(const Row& row, const JobInputs& inputs,
                                  const ReplayOptions& options) {
  constexpr int kUpdates = 100;  // as in SimulationOptions
  const absl::StatusOr<std::vector<Trace>> jobs =
      ReadRumen(inputs.paths.front(), /*failed_too=*/true);
  if (!jobs.ok()) return jobs.status();
  const auto job = std::ranges::find(*jobs, row.data, &Trace::name);
  if (job == jobs->end() || job->stages.front().kind != StageKind::kMap) {
    return absl::NotFoundError(
        fmt::format("{}: no map tasks of {}", inputs.paths.front(), row.data));
  }
  RowResult result = {.row = row};
  for (std::uint64_t seed = 1; seed <= options.seeds; ++seed) {
    absl::StatusOr<Simulation> simulation = ReplayMaps(MapPhaseOf(*job, row, seed), kUpdates);
    if (!simulation.ok()) return simulation.status();
    result.indicators.clear();
    for (const IndicatorRecord& record : simulation->records) {
      result.indicators.push_back(record.indicator);
    }
    result.tick_seconds += simulation->tick_seconds / kUpdates / static_cast<double>(options.seeds);
    result.runs.push_back(MeasureRun(*std::move(simulation), seed, options.keep_curves));
  }
  return result;
}

}  // namespace tidemark::bench
