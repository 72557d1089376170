// Which running tasks of a job of stages hold it up, and why, in words.
#pragma once

#include <cstddef>
#include <vector>

#include "master/facts/job_record.h"
#include "master/forecast/dag/application_estimate.h"
#include "master/forecast/dag/stages_application.h"
#include "tidemark/job.h"

namespace tidemark::monitor {

inline constexpr std::size_t kStragglersMax = 20;

// Returns tasks that have run for longer than other tasks of their stage. Adds, for each critical
// stage whose tasks have all begun, the task that is expected to end last. Returns at most
// kStragglersMax tasks, ordered by descending end. Names no task that may have ended without a
// report. REQUIRES: `estimate` is of an application of the stages of `seen`, at `now`. O(tasks log
// tasks).
std::vector<NamedTask> FindStragglers(const model::JobRecord& state, absl::Time now,
                                      const workflow::WorkflowNow& seen,
                                      const estimate::Estimate& estimate);

// Adds one that another source tells of to those, in the place of what they say of the same
// attempt.
void NameStraggler(NamedTask straggler, std::vector<NamedTask>& named);

}  // namespace tidemark::monitor
