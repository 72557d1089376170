// The attempts at tasks of a job, gathered for those who draw them. Pure.
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

// What was believed of a task that ran at a tick.
struct TaskLeft {
  AttemptId attempt;
  double seconds = 0;  // median
  // Where its draws are: of_task[place] of stages[stage] of cost::StagesLeft; beyond: nowhere.
  std::size_t stage = 0;
  std::size_t place = 0;
};

// What is believed of the tasks that run, at the last tick.
struct TasksLeft {
  absl::Time at;
  std::vector<TaskLeft> running;
  std::shared_ptr<const cost::StagesLeft> draws;         // null: none
  std::span<const model::ReduceTaskForecast> of_groups;  // with key groups, or none
};

// Of the reduce tasks that run, by what an indicator says of them.
std::vector<TaskLeft> ReduceTasksLeft(const model::JobRecord& state,
                                      const model::ReducePhaseForecast& forecast, absl::Time now);

inline constexpr std::size_t kHostsMax = 200;
inline constexpr std::size_t kHeavyGroupsMax = 20;
// So many parts HostTasks::busy has.
inline constexpr std::size_t kBusyParts = 60;

// At `now`, not before `left.at`. O(attempts log attempts).
JobTasks ListTasks(const model::JobRecord& state, const TasksLeft& left, const TaskQuery& query,
                   absl::Time now);

// At most `most`, evenly spread, the last one among them. `started_at`: of the job.
std::vector<PastForecast> ThinnedForecasts(std::span<const model::EndPrediction> said,
                                           absl::Time started_at, std::size_t most);

}  // namespace tidemark::monitor
