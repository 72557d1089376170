// Lists the task attempts of a job for displays. Pure.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "absl/time/time.h"
#include "master/facts/accuracy.h"
#include "master/facts/job_record.h"
#include "master/forecast/durations/task_times.h"
#include "master/forecast/progress_indicator.h"
#include "tidemark/job_tasks.h"

namespace tidemark::monitor {

// The remaining time of a task that was running at a tick.
struct TaskLeft {
  AttemptId attempt;
  double seconds = 0;  // median
  // The task's draws are of_task[place] of stages[stage] of durations::RemainingStages. An index
  // beyond the end means that the task has no draws.
  std::size_t stage = 0;
  std::size_t place = 0;
};

// The remaining times of the tasks that were running at the last tick.
struct TasksLeft {
  absl::Time at;
  std::vector<TaskLeft> running;
  std::shared_ptr<const durations::RemainingStages> draws;  // may be null
  std::span<const forecast::ReduceTaskForecast> of_groups;  // may be empty
};

// Returns the remaining times of the running reduce tasks according to an indicator's forecast.
std::vector<TaskLeft> ReduceTasksLeft(const facts::JobRecord& state,
                                      const forecast::ReducePhaseForecast& forecast,
                                      absl::Time now);

inline constexpr std::size_t kHostsMax = 200;
inline constexpr std::size_t kHeavyGroupsMax = 20;
inline constexpr std::size_t kBusyParts = 60;

// Returns the tasks at `now`. REQUIRES: `now` is not before `left.at`. O(attempts log attempts).
JobTasks ListTasks(const facts::JobRecord& state, const TasksLeft& left, const TaskQuery& query,
                   absl::Time now);

// Returns at most `most` forecasts, evenly spread, including the last. `started_at` is the start of
// the job.
std::vector<PastForecast> ThinnedForecasts(std::span<const facts::EndPrediction> predictions,
                                           absl::Time started_at, std::size_t most);

}  // namespace tidemark::monitor
