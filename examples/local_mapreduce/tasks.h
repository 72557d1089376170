// Functions that run one task attempt in a worker process.
#pragma once

#include "absl/status/statusor.h"
#include "examples/local_mapreduce/job.h"
#include "examples/local_mapreduce/job_plan.h"
#include "tidemark/agent.h"
#include "tidemark/event.h"

namespace tidemark::examples {

// Reads the split of the map task, writes the sorted output to the directory of the attempt, and
// reports key groups to `agent`.
absl::StatusOr<TaskResult> RunMapTask(const JobPlan& plan, const AttemptId& attempt, Job& job,
                                      Agent& agent);

// Fetches a partition from every map output, and reduces the merged records. Reports each key group
// to `agent`.
absl::StatusOr<TaskResult> RunReduceTask(const JobPlan& plan, const AttemptId& attempt, Job& job,
                                         Agent& agent);

}  // namespace tidemark::examples
