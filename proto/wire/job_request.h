// Parses the requests of readers (tidemark/v1/job_service.proto) into values.
#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tidemark/job_query.h"

namespace tidemark::v1 {
class JobFilter;
class PlanState;
class Scenario;
}  // namespace tidemark::v1

namespace tidemark {

namespace wire {

void EncodeJobFilter(const JobFilter& filter, v1::JobFilter& message);
void EncodeScenario(const Scenario& scenario, v1::Scenario& message);
void EncodePlanState(const PlanState& state, v1::PlanState& message);

// The longest text of a request, in bytes, such as an ID or a name. IDs of engines have some tens
// of bytes.
inline constexpr std::size_t kTextBytesMax = 256;
// Fail with InvalidArgument (FieldError) for a longer text. CheckId() also fails for an empty ID.
absl::Status CheckText(std::string_view field, std::string_view untrusted);
absl::Status CheckId(std::string_view field, std::string_view untrusted);

// Fails with InvalidArgument (FieldError), which names the first wrong field. Unknown states and
// kinds are errors, since ignoring them would change the answer. Each job is compared with the
// filter, so lists are limited to the number of values and texts to kTextBytesMax.
absl::StatusOr<JobFilter> ParseJobFilter(const v1::JobFilter& untrusted);

// Fails with InvalidArgument (FieldError) for slots of 0, a factor outside of (0, 1e6], or an
// unknown policy.
absl::StatusOr<Scenario> ParseScenario(const v1::Scenario& untrusted);
// Fails with InvalidArgument (FieldError) for a number that is negative or not finite.
absl::StatusOr<PlanState> ParsePlanState(const v1::PlanState& untrusted);

// Returns `otherwise` for VIEW_UNSPECIFIED. Fails with InvalidArgument (FieldError) for an unknown
// view.
absl::StatusOr<View> ParseView(int untrusted, View otherwise);

}  // namespace wire
}  // namespace tidemark
