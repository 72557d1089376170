// What readers ask for (tidemark/v1/job_service.proto), as values.
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

// The longest id, name or other text of a request that is compared with those of jobs, in bytes.
// Ids of engines have some tens.
inline constexpr std::size_t kTextBytesMax = 256;
// InvalidArgument (FieldError): longer; an id also: empty.
absl::Status CheckText(std::string_view field, std::string_view untrusted);
absl::Status CheckId(std::string_view field, std::string_view untrusted);

// InvalidArgument (FieldError) names the first field that is wrong: a state or kind that this
// version does not know could only be ignored, and the answer would be another than the one asked
// for. No list may be longer than there are values, and no text than kTextBytesMax: a filter is
// held against every job.
absl::StatusOr<JobFilter> ParseJobFilter(const v1::JobFilter& untrusted);

// The same: slots of 0, a factor that is not above 0 and at most 1e6, an unknown policy.
absl::StatusOr<Scenario> ParseScenario(const v1::Scenario& untrusted);

// `otherwise` for VIEW_UNSPECIFIED. InvalidArgument (FieldError): not a view of this version.
absl::StatusOr<View> ParseView(int untrusted, View otherwise);

}  // namespace wire
}  // namespace tidemark
