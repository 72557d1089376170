// One task attempt, from its input to its output: what a worker process is for.
#pragma once

#include "absl/status/statusor.h"
#include "examples/local_mapreduce/job.h"
#include "examples/local_mapreduce/job_plan.h"
#include "tidemark/agent.h"
#include "tidemark/event.h"

namespace tidemark::examples {

// Reads the split of the map task, leaves its sorted output in the attempt's directory, and tells
// `agent` of its key groups.
absl::StatusOr<TaskResult> RunMapTask(const JobPlan& plan, const AttemptId& attempt, Job& job,
                                      Agent& agent);

// Fetches a partition from every map output, merges it while it reduces, and tells `agent` of each
// key group as it goes.
absl::StatusOr<TaskResult> RunReduceTask(const JobPlan& plan, const AttemptId& attempt, Job& job,
                                         Agent& agent);

}  // namespace tidemark::examples
