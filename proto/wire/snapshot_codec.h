// Snapshots to and from their message.
#pragma once

#include "absl/status/statusor.h"
#include "tidemark/snapshot.h"

namespace tidemark::v1 {
class Snapshot;
}

namespace tidemark::wire {

void EncodeSnapshot(const Snapshot& snapshot, v1::Snapshot& message);

// Unknown enum values become their zero meaning; fractions outside 0..1 are InvalidArgument.
absl::StatusOr<Snapshot> ParseSnapshot(const v1::Snapshot& message);

}  // namespace tidemark::wire
