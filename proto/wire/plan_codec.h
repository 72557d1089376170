// Plans to and from their messages (tidemark/v1/plan.proto).
#pragma once

#include "absl/status/statusor.h"
#include "tidemark/plan.h"

namespace tidemark::v1 {
class Plan;
}  // namespace tidemark::v1

namespace tidemark::wire {

// What proto3 text cannot hold becomes '?'. ParsePlan() gives the same plan back if it passes
// CheckPlan().
void EncodePlan(const Plan& plan, v1::Plan& message);

// InvalidArgument (FieldError) names the first field that is wrong: a number or time that is none,
// a value of an enum that this version does not know, a stage without a task count, and everything
// that CheckPlan() finds. `id` may be empty.
absl::StatusOr<Plan> ParsePlan(const v1::Plan& untrusted);
// The same without CheckPlan(): of a part of a plan.
absl::StatusOr<Plan> ParsePartOfPlan(const v1::Plan& untrusted);

}  // namespace tidemark::wire
