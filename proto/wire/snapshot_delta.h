// What has changed between two snapshots of a run, and the newer one from it again. Pure.
//
//   Apply(base, Delta(base, newer)) == newer
//
// A delta is a Snapshot with base_sequence: stages and children that have not changed are left out,
// and info and coverage where they are as they were. Predictions count from the instant of a
// snapshot, so that one that still holds has become shorter by the time since then; it counts as
// unchanged, too. On the wire, an update of 1,000 stages of which 40 have changed takes at most 4
// kB.
#pragma once

#include "absl/status/statusor.h"
#include "tidemark/job.h"
#include "tidemark/job_query.h"

namespace tidemark::wire {

// REQUIRES: both are whole snapshots of one run in one view, with stages, children and groups in
// order; `newer` has the larger sequence. O(stages + children + groups). Children and groups never
// go away: one of `base` that is not in `newer` makes the result whole.
Snapshot Delta(const Snapshot& base, const Snapshot& newer);

// Returns the delta for a reader of `view`, who has `base` in that view. REQUIRES: both are whole
// snapshots in the full view; otherwise as above.
Snapshot DeltaInView(const Snapshot& base, const Snapshot& newer, View view);

// The newer snapshot. A whole `delta` is its own result. FailedPrecondition: the delta is of
// another run or builds on another sequence than that of `base`; watch the job anew. O(stages +
// children).
absl::StatusOr<Snapshot> Apply(const Snapshot& base, const Snapshot& delta);

}  // namespace tidemark::wire
