#include "master/forecast/papers/reduce_schedule.h"

#include <algorithm>

#include "master/facts/phases.h"
#include "master/forecast/durations/early_forecast.h"
#include "master/forecast/placement/greedy_list.h"

namespace tidemark::papers {
namespace {

using facts::JobRecord;
using facts::Task;
using facts::TaskAttempt;

// The delay of reduce tasks before their first reduce function.
struct BeforeReduce {
  absl::Time maps_end;
  double shuffle_seconds_per_byte = 0;

  absl::Duration ShuffleTime(const JobRecord& state, std::size_t index) const {
    return absl::Seconds(shuffle_seconds_per_byte *
                         static_cast<double>(state.reduce_input_bytes(index)));
  }
};

absl::Time LastUpdate(const JobRecord& state, std::size_t index, const TaskAttempt& attempt,
                      const BeforeReduce& before, absl::Time now) {
  if (attempt.reduce->last_group_finished_at) return *attempt.reduce->last_group_finished_at;
  if (attempt.reduce->reduce_started_at) return *attempt.reduce->reduce_started_at;
  const absl::Time fetches_from =
      std::max(attempt.life.started_at().value_or(now), before.maps_end);
  return std::max(now, fetches_from + before.ShuffleTime(state, index));
}

}  // namespace

std::vector<std::optional<absl::Time>> ReduceTaskEnds(const JobRecord& state, absl::Time now,
                                                      const std::vector<ReduceTimeLeft>& left) {
  const BeforeReduce before{durations::MapPhaseEnd(state, now).value_or(now),
                            facts::ShuffleSecondsPerByte(state).value_or(0)};
  std::vector<std::optional<absl::Time>> ends(left.size());
  std::vector<absl::Time> slots_free_at;
  std::vector<absl::Duration> waiting;
  std::vector<std::size_t> waiting_index;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const Task& task = state.reduce_tasks()[i];
    if (task.is_over()) continue;
    if (const TaskAttempt* attempt = task.leading_attempt()) {
      ends[i] = std::max(LastUpdate(state, i, *attempt, before, now) + left[i].left,
                         left[i].ends_no_earlier);
      slots_free_at.push_back(std::max(*ends[i], now));
    } else {
      waiting.push_back(before.ShuffleTime(state, i) + left[i].left);
      waiting_index.push_back(i);
    }
  }
  placement::AddFreeSlots(state.reduce_slots(), waiting.size(), now, slots_free_at);
  const auto schedule = placement::ScheduleGreedily(slots_free_at, waiting);
  for (std::size_t k = 0; k < schedule.size(); ++k) ends[waiting_index[k]] = schedule[k].ends_at;
  return ends;
}

std::optional<absl::Time> LatestEnd(const std::vector<std::optional<absl::Time>>& ends) {
  std::optional<absl::Time> latest;
  for (const auto& end : ends) {
    if (end && (!latest || *end > *latest)) latest = end;
  }
  return latest;
}

}  // namespace tidemark::papers
