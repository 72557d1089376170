// Determines which tasks are stragglers, and states the reasons.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "master/facts/job_record.h"
#include "master/forecast/dag/application_forecast.h"
#include "master/forecast/dag/stages_application.h"
#include "master/forecast/progress_indicator.h"
#include "tidemark/job.h"

namespace tidemark::monitor {

inline constexpr std::size_t kStragglersMax = 20;

// Returns the reduce task that is predicted to end last, or nullopt if the forecast has no tasks.
std::optional<NamedTask> LastReduceTask(const facts::JobRecord& state,
                                        const forecast::ReducePhaseForecast& forecast,
                                        absl::Time now);

// Returns the stragglers of a job of stages: tasks that have run for longer than other tasks of
// their stage, and the task that is predicted to end last in each critical stage whose tasks have
// all begun. Returns at most kStragglersMax tasks, latest end first. Omits tasks that may have
// ended without a report. REQUIRES: `forecast` forecasts the stages of `seen` at `now`. O(tasks log
// tasks).
std::vector<NamedTask> FindStragglers(const facts::JobRecord& state, absl::Time now,
                                      const dag::WorkflowNow& seen,
                                      const dag::ApplicationForecast& forecast);

// Returns the attempt, or null if the job has none of that id.
const facts::TaskAttempt* FindAttempt(const facts::JobRecord& state, const AttemptId& id);

// Returns the id of the leading attempt at a reduce task, or of its first attempt if none runs.
AttemptId LeadingAttemptId(const facts::Task& task);

// Inserts a straggler from another source into `named`. Replaces an entry for the same attempt.
void InsertStraggler(NamedTask straggler, std::vector<NamedTask>& named);

}  // namespace tidemark::monitor
