#include "master/forecast/dag/long_tasks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>

namespace tidemark::workflow {
namespace {

using cost::Draws;

// A task is long from so many times the median of its kind on. With 2 what was chance in the
// earlier runs is taken for a hot partition: tpcds-live-one-run 2.60 points at 20 looks, with
// 3 2.49, with no such tasks 2.47; with 4 second runs of Spark have 2.3 points instead of 2.2,
// without them 4.7.
constexpr double kLongFrom = 3;

// The lower one of two, so that of two tasks one may be long.
double MedianOf(std::span<const double> seconds) {
  std::vector<double> sorted(seconds.begin(), seconds.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

double LongFrom(std::span<const double> seconds) {
  return kLongFrom * std::max(MedianOf(seconds), kTaskSecondsMin);
}

std::vector<std::uint32_t> BegunOf(const StageNow& stage) {
  std::vector<std::uint32_t> begun;
  for (const FinishedTask& task : stage.finished) begun.push_back(task.index);
  for (const RunningTask& task : stage.running) begun.push_back(task.id.index);
  std::sort(begun.begin(), begun.end());
  return begun;
}

// Of the tasks that have not begun, in the order in which they will: the first `count`.
std::vector<std::uint32_t> PendingOf(std::span<const std::uint32_t> begun, std::size_t count) {
  std::vector<std::uint32_t> pending;
  std::size_t passed = 0;
  for (std::uint32_t index = 0; pending.size() < count; ++index) {
    while (passed < begun.size() && begun[passed] < index) ++passed;
    if (passed == begun.size() || begun[passed] != index) pending.push_back(index);
  }
  return pending;
}

}  // namespace

std::vector<LongTask> LongTasksOf(const StageNow& stage) {
  std::array<std::vector<double>, kWarmths> seconds;
  for (const FinishedTask& task : stage.finished) {
    seconds[static_cast<std::size_t>(task.warmth)].push_back(task.seconds);
  }
  std::array<double, kWarmths> long_from = {};
  std::array<double, kWarmths> usual = {};
  for (std::size_t kind = 0; kind < kWarmths; ++kind) {
    if (seconds[kind].empty()) continue;
    long_from[kind] = LongFrom(seconds[kind]);
    usual[kind] = MeanSeconds(UsualTimes(seconds[kind]));
  }
  std::vector<LongTask> long_tasks;
  for (const FinishedTask& task : stage.finished) {
    const auto kind = static_cast<std::size_t>(task.warmth);
    if (task.seconds < long_from[kind]) continue;
    long_tasks.push_back({.index = task.index, .more_seconds = task.seconds - usual[kind]});
  }
  // More than that are no hot partitions but tasks of two kinds.
  if (long_tasks.size() > StageProfile::kLongTasksMax) return {};
  // Of one that ran again after a lost shuffle, the longest counts.
  std::sort(long_tasks.begin(), long_tasks.end(), [](const LongTask& a, const LongTask& b) {
    return a.index != b.index ? a.index < b.index : a.more_seconds > b.more_seconds;
  });
  const auto repeated =
      std::unique(long_tasks.begin(), long_tasks.end(),
                  [](const LongTask& a, const LongTask& b) { return a.index == b.index; });
  long_tasks.erase(repeated, long_tasks.end());
  return long_tasks;
}

std::vector<double> UsualTimes(std::span<const double> seconds) {
  std::vector<double> usual;
  if (seconds.empty()) return usual;
  const double long_from = LongFrom(seconds);
  std::copy_if(seconds.begin(), seconds.end(), std::back_inserter(usual),
               [&](double time) { return time < long_from; });
  return usual;
}

bool TellsLongTasks(const StageProfile& stage) {
  return !stage.long_tasks.empty() ||
         std::ranges::all_of(stage.seconds, [](const std::vector<double>& seconds) {
           return UsualTimes(seconds).size() == seconds.size();
         });
}

std::vector<LongTask> ExpectLongTasks(std::span<const LongTasksOfRun> runs) {
  std::map<std::uint32_t, double> sums;
  double count = 0;
  for (const LongTasksOfRun& run : runs) {
    count += 1;
    for (const LongTask& task : run.long_tasks) sums[task.index] += run.scale * task.more_seconds;
  }
  std::vector<LongTask> expected;
  for (const auto& [index, sum] : sums) {
    expected.push_back({.index = index, .more_seconds = sum / count});
  }
  return expected;
}

double MoreSeconds(std::span<const LongTask> long_tasks, std::uint32_t index) {
  const auto at = std::lower_bound(
      long_tasks.begin(), long_tasks.end(), index,
      [](const LongTask& task, std::uint32_t wanted) { return task.index < wanted; });
  return at != long_tasks.end() && at->index == index ? at->more_seconds : 0;
}

TaskFactors FactorsOfLongTasks(const StageNow& stage, const ExpectedTasks& expected,
                               const cost::FixedDraws& draws) {
  TaskFactors factors;
  if (expected.long_tasks.empty()) return factors;
  const auto factor = [&](double more_seconds, Warmth over) {
    return 1 + more_seconds / std::max(expected.Of(over).mean(), kTaskSecondsMin);
  };
  for (const RunningTask& task : stage.running) {
    const double more_seconds = MoreSeconds(expected.long_tasks, task.id.index);
    factors.of_running.emplace_back(draws.count(), factor(more_seconds, task.warmth));
  }
  const std::vector<std::uint32_t> begun = BegunOf(stage);
  double waiting_more = 0;
  for (const LongTask& task : expected.long_tasks) {
    if (!std::ranges::binary_search(begun, task.index)) waiting_more += task.more_seconds;
  }
  const std::size_t waiting = stage.tasks > begun.size() ? stage.tasks - begun.size() : 0;
  if (waiting_more == 0 || waiting == 0) return factors;
  if (waiting > kToldApartMax) {
    factors.of_others.assign(draws.count(),
                             factor(waiting_more / static_cast<double>(waiting), Warmth::kRest));
    return factors;
  }
  for (const std::uint32_t index : PendingOf(begun, waiting)) {
    factors.of_waiting.emplace_back(draws.count(),
                                    factor(MoreSeconds(expected.long_tasks, index), Warmth::kRest));
  }
  return factors;
}

}  // namespace tidemark::workflow
