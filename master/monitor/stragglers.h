// Which running tasks of a job of stages hold it up, and why, in words.
#pragma once

#include <cstddef>
#include <vector>

#include "master/estimate/application_estimate.h"
#include "master/model/job_record.h"
#include "master/workflow/stages_application.h"
#include "tidemark/job.h"

namespace tidemark::monitor {

inline constexpr std::size_t kStragglersMax = 20;

// Tasks that have run for longer than tasks of their stage do, and of each critical stage whose
// tasks have all begun the one that is expected to end last: at most kStragglersMax, the last to
// end first. REQUIRES: `estimate` is of an application of the stages of `seen`. O(tasks).
std::vector<NamedTask> FindStragglers(const model::JobRecord& state,
                                      const workflow::WorkflowNow& seen,
                                      const estimate::Estimate& estimate);

// Adds one that another source tells of to those, in the place of what they say of the same
// attempt.
void NameStraggler(NamedTask straggler, std::vector<NamedTask>& named);

}  // namespace tidemark::monitor
