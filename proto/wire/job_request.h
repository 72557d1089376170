// What readers ask for (tidemark/v1/job_service.proto), as values.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "proto/wire/job_view.h"
#include "tidemark/plan.h"

namespace tidemark::next::v1 {
class JobFilter;
class Scenario;
}  // namespace tidemark::next::v1

namespace tidemark::next {

// How things might be otherwise; what is empty is as it is.
struct Scenario {
  std::optional<std::uint32_t> slots;
  std::optional<double> data_factor;  // in jobs and stages that have not begun
  std::optional<SchedulingPolicy> policy;
  friend bool operator==(const Scenario&, const Scenario&) = default;
};

namespace wire {

// InvalidArgument (FieldError) names the first field that is wrong: a state or kind that this
// version does not know could only be ignored, and the answer would be another than the one asked
// for.
absl::StatusOr<JobFilter> ParseJobFilter(const v1::JobFilter& untrusted);

// The same: slots of 0, a factor that is not above 0 and at most 1e6, an unknown policy.
absl::StatusOr<Scenario> ParseScenario(const v1::Scenario& untrusted);

// `otherwise` for VIEW_UNSPECIFIED. InvalidArgument (FieldError): not a view of this version.
absl::StatusOr<View> ParseView(int untrusted, View otherwise);

}  // namespace wire
}  // namespace tidemark::next
