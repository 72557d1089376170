#include "master/monitor/stragglers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "master/facts/missing_ends.h"
#include "master/forecast/durations/fixed_draws.h"

namespace tidemark::monitor {
namespace {

// A task is late when it has run for this many times the median of its stage: from there on Spark,
// too, starts a speculative attempt (spark.speculation.multiplier).
constexpr double kLate = 1.5;
// Before so many tasks have ended their median says little. Taste.
constexpr std::size_t kEndedMin = 3;

// Seconds; empty: too few have ended.
std::optional<double> MedianOf(const std::vector<workflow::FinishedTask>& tasks) {
  if (tasks.size() < kEndedMin) return std::nullopt;
  std::vector<double> seconds;
  for (const workflow::FinishedTask& task : tasks) seconds.push_back(task.seconds);
  return cost::QuantileOf(seconds, 0.5);
}

std::string NameOf(const AttemptId& id) {
  return id.attempt == 0 ? fmt::format("Task {}", id.index)
                         : fmt::format("Task {}, attempt {},", id.index, id.attempt);
}

const model::TaskAttempt& AttemptOf(const model::JobRecord& state, const AttemptId& id) {
  const model::Stage& stage = state.stages.at(id.stage);
  const auto place = stage.places.find(id.index);
  const model::Task& task = stage.tasks[place == stage.places.end() ? id.index : place->second];
  return task.attempts.at({id.stage_attempt, id.attempt});
}

}  // namespace

std::vector<NamedTask> FindStragglers(const model::JobRecord& state, absl::Time now,
                                      const workflow::WorkflowNow& seen,
                                      const estimate::Estimate& estimate) {
  std::vector<std::pair<double, NamedTask>> found;  // when it ends, from now on; seconds
  for (std::size_t i = 0; i < seen.stages.size(); ++i) {
    const workflow::StageNow& stage = seen.stages[i];
    const std::vector<double>& ends = estimate.stages[i].task_ends;
    if (stage.running.empty() || ends.size() < stage.running.size()) continue;
    const std::optional<double> median = MedianOf(stage.finished);
    const bool have_all_begun = stage.finished.size() + stage.running.size() >= stage.tasks;
    const auto running_end = ends.begin() + static_cast<std::ptrdiff_t>(stage.running.size());
    const auto last =
        static_cast<std::size_t>(std::max_element(ends.begin(), running_end) - ends.begin());
    for (std::size_t n = 0; n < stage.running.size(); ++n) {
      const workflow::RunningTask& task = stage.running[n];
      if (model::MayHaveEnded(state, AttemptOf(state, task.id), now)) continue;
      NamedTask named = {.attempt = task.id};
      if (median && *median > 0 && task.elapsed > kLate * *median) {
        named.reason = fmt::format(
            "{} of stage {} has run {:.1f} times as long as the median of those that have ended",
            NameOf(task.id), stage.number, task.elapsed / *median);
      } else if (have_all_begun && n == last && estimate.stages[i].is_critical) {
        named.reason = fmt::format("{} is expected to be the last of stage {} to end",
                                   NameOf(task.id), stage.number);
      } else {
        continue;
      }
      if (ends[n] > 0) named.remaining = Range{.median = absl::Seconds(ends[n])};
      found.emplace_back(ends[n], std::move(named));
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (found.size() > kStragglersMax) found.resize(kStragglersMax);
  std::vector<NamedTask> named;
  for (auto& [end, task] : found) {
    task.host = AttemptOf(state, task.attempt).life.host;
    named.push_back(std::move(task));
  }
  return named;
}

void NameStraggler(NamedTask straggler, std::vector<NamedTask>& named) {
  std::erase_if(named, [&](const NamedTask& other) { return other.attempt == straggler.attempt; });
  const auto left = [](const NamedTask& task) {
    return task.remaining ? task.remaining->median : absl::ZeroDuration();
  };
  const auto place = std::ranges::find_if(
      named, [&](const NamedTask& other) { return left(other) < left(straggler); });
  named.insert(place, std::move(straggler));
  if (named.size() > kStragglersMax) named.pop_back();
}

}  // namespace tidemark::monitor
