// Whether a plan can run as a workflow at a master, which takes less than CheckPlan() does.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "master/forecast/placement/dag.h"
#include "tidemark/plan.h"

namespace tidemark::workflow {

// InvalidArgument (FieldError): what CheckPlan() finds, no id, a job that is described by its
// stages. ResourceExhausted: jobs_per_workflow. O(jobs + edges).
absl::Status CheckWorkflow(const Plan& plan, std::size_t jobs_max);

// For each job the indexes of those it waits for. REQUIRES: CheckPlan(plan) is OK. O(jobs + edges).
schedule::Parents ParentsOf(const Plan& plan);

}  // namespace tidemark::workflow
