// How much of a snapshot a reader wants, and which jobs. Pure.
#pragma once

#include "tidemark/job_query.h"

namespace tidemark::wire {

// The snapshot without what `view` leaves out; kUnknown is kFull. A view of a view is the smaller
// of both. For deltas, take the view first (proto/wire/snapshot_delta.h).
Snapshot WithView(Snapshot snapshot, View view);

// REQUIRES: the snapshot is whole.
bool Matches(const JobFilter& filter, const Snapshot& snapshot);

}  // namespace tidemark::wire
