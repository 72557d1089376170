// Converts plans to and from messages (tidemark/v1/plan.proto).
#pragma once

#include "absl/status/statusor.h"
#include "tidemark/plan.h"

namespace tidemark::v1 {
class Plan;
}  // namespace tidemark::v1

namespace tidemark::wire {

// Encodes a plan, and replaces invalid UTF-8. ParsePlan() returns the same plan if CheckPlan()
// accepts the plan.
void EncodePlan(const Plan& plan, v1::Plan& message);

// Parses a plan. Fails with InvalidArgument (FieldError), which names the first wrong field.
// Examples are an invalid number or time, an unknown enum value, a stage without a task count, and
// any error of CheckPlan(). `id` may be empty.
absl::StatusOr<Plan> ParsePlan(const v1::Plan& untrusted);
// Parses a part of a plan, without CheckPlan().
absl::StatusOr<Plan> ParsePartOfPlan(const v1::Plan& untrusted);

}  // namespace tidemark::wire
