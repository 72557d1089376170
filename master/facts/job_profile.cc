#include "master/facts/job_profile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace tidemark::model {
namespace {

class Times {
 public:
  void Add(absl::Duration time) {
    const double seconds = std::max(absl::ToDoubleSeconds(time), 0.0);
    count_ += 1;
    sum_ += seconds;
    squares_ += seconds * seconds;
  }
  bool empty() const { return count_ == 0; }
  absl::Duration mean() const { return empty() ? absl::ZeroDuration() : absl::Seconds(Mean()); }
  double variation() const {
    if (empty() || Mean() <= 0) return 0;
    return std::sqrt(std::max(squares_ / count_ - Mean() * Mean(), 0.0)) / Mean();
  }

 private:
  double Mean() const { return sum_ / count_; }
  double count_ = 0;
  double sum_ = 0;
  double squares_ = 0;
};

// Adds what the finished ones took, counted from `from` on; when the last of them ended.
absl::Time AddFinished(std::span<const Task> tasks, absl::Time from, Times& times) {
  absl::Time last = absl::InfinitePast();
  for (const Task& task : tasks) {
    const TaskAttempt* const attempt = task.finished_attempt();
    if (attempt == nullptr || !attempt->life.started_at() || !attempt->life.ended_at()) continue;
    times.Add(*attempt->life.ended_at() - std::max(*attempt->life.started_at(), from));
    last = std::max(last, *attempt->life.ended_at());
  }
  return last;
}

}  // namespace

std::optional<JobProfile> LearnProfile(const JobRecord& state, const JobSummary& summary) {
  Times maps;
  const absl::Time maps_ended = AddFinished(state.map_tasks(), absl::InfinitePast(), maps);
  if (maps.empty()) return std::nullopt;
  Times reduces;
  AddFinished(state.reduce_tasks(), maps_ended, reduces);
  const std::size_t slots = std::max(state.map_slots(), state.reduce_slots());
  return JobProfile{.slots = static_cast<std::uint32_t>(std::min<std::size_t>(slots, UINT32_MAX)),
                    .map_tasks = summary.map_tasks,
                    .reduce_tasks = summary.reduce_tasks,
                    .split_bytes = static_cast<double>(summary.map_input_bytes) /
                                   std::max<double>(summary.map_tasks, 1),
                    .map_selectivity = summary.map_selectivity().value_or(0),
                    .reduce_selectivity = summary.reduce_selectivity().value_or(0),
                    .map_task_time = maps.mean(),
                    .reduce_task_time = reduces.mean(),
                    .map_task_variation = maps.variation(),
                    .reduce_task_variation = reduces.variation()};
}

}  // namespace tidemark::model
