// Whether a submitted workflow makes sense: everything that a stranger may have got wrong.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "master/schedule/dag.h"
#include "tidemark/workflow.h"

namespace tidemark::workflow {

struct WorkflowLimits {
  std::size_t jobs_max = 1000;
};

// For each job the indexes of those it waits for. REQUIRES: CheckWorkflow() is OK.
// O(jobs + edges).
schedule::Parents ParentsOf(const WorkflowSpec& workflow);

// InvalidArgument says which job and field is wrong: no id, two jobs of one name or one job_id, a
// job it waits for that is none, a cycle, no slot, a number that is negative or not finite, a queue
// that is none, a profile without any task. ResourceExhausted: jobs_per_workflow.
// O(jobs + edges).
absl::Status CheckWorkflow(const WorkflowSpec& workflow, const WorkflowLimits& limits);

}  // namespace tidemark::workflow
