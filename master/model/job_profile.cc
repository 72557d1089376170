#include "master/model/job_profile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

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

}  // namespace

std::optional<JobProfile> LearnProfile(const JobState& state, const JobSummary& summary) {
  Times maps;
  absl::Time maps_ended = absl::InfinitePast();
  for (const MapTask& task : state.map_tasks) {
    const MapAttempt* const attempt = task.finished_attempt();
    if (attempt == nullptr || !attempt->life.started_at() || !attempt->life.ended_at()) continue;
    maps.Add(*attempt->life.ended_at() - *attempt->life.started_at());
    maps_ended = std::max(maps_ended, *attempt->life.ended_at());
  }
  if (maps.empty()) return std::nullopt;
  Times reduces;
  for (const ReduceTask& task : state.reduce_tasks) {
    const ReduceAttempt* const attempt = task.finished_attempt();
    if (attempt == nullptr || !attempt->life.started_at() || !attempt->life.ended_at()) continue;
    reduces.Add(*attempt->life.ended_at() - std::max(*attempt->life.started_at(), maps_ended));
  }
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
