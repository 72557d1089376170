// Parses the requests of readers (tidemark/v1/job_service.proto) into values.
#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tidemark/job_query.h"

namespace tidemark::v1 {
class JobFilter;
class Scenario;
}  // namespace tidemark::v1

namespace tidemark {

namespace wire {

void EncodeJobFilter(const JobFilter& filter, v1::JobFilter& message);
void EncodeScenario(const Scenario& scenario, v1::Scenario& message);

// The longest text of a request, in bytes, such as an id or a name. Ids of engines have some tens
// of bytes.
inline constexpr std::size_t kTextBytesMax = 256;
// InvalidArgument (FieldError) for a longer text, and for an empty id.
absl::Status CheckText(std::string_view field, std::string_view untrusted);
absl::Status CheckId(std::string_view field, std::string_view untrusted);

// InvalidArgument (FieldError) names the first wrong field. Unknown states and kinds are errors,
// since ignoring them would change the answer. Lists are limited to the number of values and texts
// to kTextBytesMax, since each job is compared with the filter.
absl::StatusOr<JobFilter> ParseJobFilter(const v1::JobFilter& untrusted);

// InvalidArgument (FieldError): slots of 0, a factor outside of (0, 1e6], an unknown policy.
absl::StatusOr<Scenario> ParseScenario(const v1::Scenario& untrusted);

// Returns `otherwise` for VIEW_UNSPECIFIED. InvalidArgument (FieldError) for an unknown view.
absl::StatusOr<View> ParseView(int untrusted, View otherwise);

}  // namespace wire
}  // namespace tidemark
