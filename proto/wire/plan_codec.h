// Converts plans to and from messages (tidemark/v1/plan.proto).
#pragma once

#include "absl/status/statusor.h"
#include "tidemark/plan.h"

namespace tidemark::v1 {
class Plan;
}  // namespace tidemark::v1

namespace tidemark::wire {

// Encodes a plan and makes its text valid UTF-8. ParsePlan() returns the same plan if it passes
// CheckPlan().
void EncodePlan(const Plan& plan, v1::Plan& message);

// Fails with InvalidArgument (FieldError), which names the first wrong field: an invalid number or
// time, an unknown enum value, a stage without a task count, or any error of CheckPlan(). `id` may
// be empty.
absl::StatusOr<Plan> ParsePlan(const v1::Plan& untrusted);
// Parses a part of a plan, without CheckPlan().
absl::StatusOr<Plan> ParsePartOfPlan(const v1::Plan& untrusted);

}  // namespace tidemark::wire
