#include "master/forecast/durations/map_phase_end.h"

#include <algorithm>
#include <span>
#include <vector>

#include "master/facts/phases.h"
#include "master/forecast/placement/greedy_list.h"

namespace tidemark::model {
namespace {

const TaskAttempt* RunningAttempt(const Task& task) {
  for (const auto& [number, attempt] : task.attempts) {
    if (attempt.life.is_running()) return &attempt;
  }
  return nullptr;
}

// Seconds for one unit of weight, from finished and running map tasks; empty before any progress.
std::optional<double> MapSecondsPerWeight(const JobRecord& state,
                                          const std::vector<double>& weights, absl::Time now) {
  double seconds = 0;
  double weight = 0;
  const std::span<const Task> tasks = state.map_tasks();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Task& task = tasks[i];
    const double fraction = MapTaskFraction(task);
    const TaskAttempt* attempt =
        task.is_finished() ? task.finished_attempt() : RunningAttempt(task);
    if (fraction <= 0 || attempt == nullptr || !attempt->life.started_at()) continue;
    const absl::Time until = attempt->life.ended_at().value_or(now);
    seconds +=
        absl::ToDoubleSeconds(std::max(until - *attempt->life.started_at(), absl::ZeroDuration()));
    weight += weights[i] * fraction;
  }
  if (weight <= 0) return std::nullopt;
  return seconds / weight;
}

}  // namespace

std::optional<absl::Time> MapPhaseEnd(const JobRecord& state, absl::Time now) {
  const StageProgress progress = MapProgress(state);
  if (progress.state == StageState::kDone) return progress.ended_at;
  if (const auto reduce_start = ReducePhaseStart(state)) return reduce_start;
  const std::vector<double> weights = MapTaskWeights(state);
  const std::optional<double> seconds_per_weight = MapSecondsPerWeight(state, weights, now);
  if (!seconds_per_weight) return std::nullopt;
  std::vector<absl::Time> slots_free_at;
  std::vector<absl::Duration> waiting;
  const std::span<const Task> tasks = state.map_tasks();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Task& task = tasks[i];
    if (task.is_over()) continue;
    const absl::Duration left =
        absl::Seconds(*seconds_per_weight * weights[i] * (1 - MapTaskFraction(task)));
    if (task.is_running()) {
      slots_free_at.push_back(now + left);
    } else {
      waiting.push_back(left);
    }
  }
  schedule::AddFreeSlots(state.map_slots(), waiting.size(), now, slots_free_at);
  absl::Time end = *std::max_element(slots_free_at.begin(), slots_free_at.end());
  for (const auto& task : schedule::ScheduleGreedily(slots_free_at, waiting)) {
    end = std::max(end, task.ends_at);
  }
  return end;
}

}  // namespace tidemark::model
