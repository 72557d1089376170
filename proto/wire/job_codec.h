// Converts snapshots to and from messages (tidemark/v1/job.proto), and to JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tidemark/job.h"
#include "tidemark/job_query.h"

namespace tidemark::v1 {
class Snapshot;
}  // namespace tidemark::v1

namespace tidemark::wire {

// Returns the snapshot without the fields that `view` omits. The view kUnknown counts as kFull. A
// view of a view is the smaller one. O(size of the result). For deltas, see
// proto/wire/snapshot_delta.h.
Snapshot WithView(const Snapshot& snapshot, View view);

// Returns the snapshot without stages, children and groups. O(size of names and notes).
Snapshot WithoutParts(const Snapshot& snapshot);

// Returns true if the snapshot meets all conditions. REQUIRES: the snapshot is whole.
bool Matches(const JobFilter& filter, const Snapshot& snapshot);

// Encodes any snapshot, whole or a delta, to a message that every reader accepts. Makes text valid
// UTF-8 and limits times to the range of the message.
void EncodeSnapshot(const Snapshot& snapshot, v1::Snapshot& message);
// Encodes a view of the snapshot. O(size of the view).
void EncodeSnapshot(const Snapshot& snapshot, View view, v1::Snapshot& message);

// Fails with InvalidArgument (FieldError), which names the first field that contradicts
// tidemark/job.h. Examples are a fraction outside 0..1, a negative duration, and stages out of
// order or, in a whole snapshot, without their info. Unknown enum values become kUnknown, and
// unknown fields are ignored, since a newer master may send them.
absl::StatusOr<Snapshot> ParseSnapshot(const v1::Snapshot& message);

// Returns tidemark.v1.Snapshot as MessageJson() writes it. Equal snapshots give equal bytes.
std::string SnapshotJson(const Snapshot& snapshot);

// The fields of a WatchJob response other than its snapshot. A server that forwards the response
// to many readers need not parse the snapshot for each of them. Pure.
struct WatchResponseHead {
  std::string resume_token;
  std::uint64_t skipped_snapshots = 0;
  bool restarted = false;
  std::uint64_t base_sequence = 0;  // base_sequence of the snapshot; 0 if it is whole
};

// Returns nullopt if the bytes are not a v1::WatchJobResponse. O(fields of the snapshot).
std::optional<WatchResponseHead> ReadWatchResponseHead(absl::string_view response);

}  // namespace tidemark::wire
