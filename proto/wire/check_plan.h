// Whether a plan makes sense: everything that a stranger may have got wrong.
#pragma once

#include "absl/status/status.h"
#include "tidemark/plan.h"

namespace tidemark::next::wire {

// InvalidArgument (FieldError) names the first field that is wrong and what to do: no job, a name
// that is missing, too long or taken, a job or stage to wait for that does not exist, a cycle, a
// number out of range, a stage without task times, a queue that is missing or unknown, a job that
// is described both by its numbers and by its stages. O(jobs + stages + edges), and for an unknown
// name O(names).
absl::Status CheckPlan(const Plan& plan);

}  // namespace tidemark::next::wire
