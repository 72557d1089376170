// How much of a snapshot a reader wants, and which jobs. Pure.
#pragma once

#include "tidemark/job_query.h"

namespace tidemark::wire {

// Returns the snapshot without what `view` leaves out; kUnknown is kFull. A view of a view is the
// smaller of both. O(size of the result). For deltas, see proto/wire/snapshot_delta.h.
Snapshot WithView(const Snapshot& snapshot, View view);

// Returns the snapshot without stages, children and groups. O(1) but for names and notes.
Snapshot WithoutParts(const Snapshot& snapshot);

// REQUIRES: the snapshot is whole.
bool Matches(const JobFilter& filter, const Snapshot& snapshot);

}  // namespace tidemark::wire
