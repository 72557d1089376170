// Converts snapshots to and from messages (tidemark/v1/job.proto), and to JSON. Parses the requests
// of readers (tidemark/v1/job_service.proto) into values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tidemark/job.h"
#include "tidemark/job_query.h"

namespace tidemark::v1 {
class JobFilter;
class PlanState;
class Scenario;
class Snapshot;
}  // namespace tidemark::v1

namespace tidemark::wire {

void EncodeJobFilter(const JobFilter& filter, v1::JobFilter& message);
void EncodeScenario(const Scenario& scenario, v1::Scenario& message);
void EncodePlanState(const PlanState& state, v1::PlanState& message);

// Maximum length of a text in a request, such as an ID or a name, in bytes. The IDs of engines have
// tens of bytes.
inline constexpr std::size_t kTextBytesMax = 256;
// These functions fail with InvalidArgument (FieldError) for a longer text. CheckId() also fails
// for an empty ID. Jobs of earlier versions may have IDs with control characters.
absl::Status CheckText(std::string_view field, std::string_view untrusted);
absl::Status CheckId(std::string_view field, std::string_view untrusted);

// Parses a filter. Fails with InvalidArgument (FieldError), which names the first wrong field.
// Unknown states and kinds are errors, since ignoring them would change the answer. Each job is
// compared with the filter. Therefore a list may contain at most as many elements as there are
// values, and texts are limited to kTextBytesMax.
absl::StatusOr<JobFilter> ParseJobFilter(const v1::JobFilter& untrusted);

// Fails with InvalidArgument (FieldError) if slots is 0, if the factor is outside (0, 1e6], or if
// the policy is unknown.
absl::StatusOr<Scenario> ParseScenario(const v1::Scenario& untrusted);
// Fails with InvalidArgument (FieldError) if a number is negative or not finite.
absl::StatusOr<PlanState> ParsePlanState(const v1::PlanState& untrusted);

// Returns `otherwise` for VIEW_UNSPECIFIED. Fails with InvalidArgument (FieldError) for an unknown
// view.
absl::StatusOr<View> ParseView(int untrusted, View otherwise);

// Returns the snapshot without the fields that `view` omits. kUnknown is treated like kFull. For a
// snapshot that is already a view, the smaller view applies. O(size of the result). For deltas, see
// proto/wire/snapshot_delta.h.
Snapshot WithView(const Snapshot& snapshot, View view);

// Returns the snapshot without stages, children and groups. O(size of names and notes).
Snapshot WithoutParts(const Snapshot& snapshot);

// Returns true if the snapshot satisfies all conditions. REQUIRES: the snapshot is whole.
bool Matches(const JobFilter& filter, const Snapshot& snapshot);

// Encodes a whole snapshot or a delta as a message that every client accepts. Replaces invalid
// UTF-8, and limits times to the range of the message.
void EncodeSnapshot(const Snapshot& snapshot, v1::Snapshot& message);
// Encodes a view of the snapshot. O(size of the view).
void EncodeSnapshot(const Snapshot& snapshot, View view, v1::Snapshot& message);

// Parses a snapshot. Fails with InvalidArgument (FieldError), which names the first field that
// contradicts tidemark/job.h. Examples are a fraction outside 0..1, a negative duration, stages
// that are not in order and, in a whole snapshot, stages without info. Unknown enum values become
// kUnknown and unknown fields are ignored, since a newer master may send them.
absl::StatusOr<Snapshot> ParseSnapshot(const v1::Snapshot& message);

// Returns tidemark.v1.Snapshot in the format of MessageJson(). Equal snapshots give equal bytes.
std::string SnapshotJson(const Snapshot& snapshot);

// The fields of a WatchJob response other than its snapshot. A server that forwards the response to
// many clients does not need to parse the snapshot for each of them. Pure.
struct WatchResponseHead {
  std::string resume_token;
  std::uint64_t skipped_snapshots = 0;
  bool restarted = false;
  std::uint64_t base_sequence = 0;  // base_sequence of the snapshot; 0 if the snapshot is whole
};

// Returns nullopt if the bytes are not a v1::WatchJobResponse. O(fields of the snapshot).
std::optional<WatchResponseHead> ReadWatchResponseHead(absl::string_view response);

}  // namespace tidemark::wire
