// Snapshots to and from their messages (tidemark/v1/job.proto), and as JSON.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "tidemark/job.h"
#include "tidemark/job_query.h"

namespace tidemark::v1 {
class Snapshot;
}  // namespace tidemark::v1

namespace tidemark::wire {

// Whatever the snapshot holds becomes a message that every reader takes; text is made UTF-8, and
// times that a message cannot hold become the nearest that it can. A snapshot may be whole or a
// delta.
void EncodeSnapshot(const Snapshot& snapshot, v1::Snapshot& message);
// Encodes the snapshot in a view. O(size of that).
void EncodeSnapshot(const Snapshot& snapshot, View view, v1::Snapshot& message);

// InvalidArgument (FieldError) names the first field that breaks a promise of tidemark/job.h: a
// fraction outside 0..1, a negative duration, stages out of order; of a whole snapshot also stages
// without their info. Values of enums that this version does not know become kUnknown, and unknown
// fields are ignored: a newer master may send them.
absl::StatusOr<Snapshot> ParseSnapshot(const v1::Snapshot& message);

// Returns tidemark.v1.Snapshot as MessageJson() writes it. Equal snapshots give equal bytes.
std::string SnapshotJson(const Snapshot& snapshot);

}  // namespace tidemark::wire
