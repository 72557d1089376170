// Makes the forecasts in one snapshot consistent with each other.
//
// The parts of a snapshot are estimated together, in the same simulated futures. Afterwards each
// forecast is separately rounded, repeated while it is still valid, and widened. Without a
// correction, a job could appear to end before it starts, or a workflow to end before its last job.
#pragma once

#include "tidemark/job.h"

namespace tidemark {

// Changes forecasts of stages, children and groups as little as needed, so that
//
//   a part starts no sooner than the parts that it waits for end,
//   a part ends no sooner than it starts, and a child no sooner than its stages,
//   no part starts or ends later than the whole ends,
//   the part that ends last ends with the whole, if `ends_with_parts` is true.
//
// Each rule holds for medians, for lower bounds and for upper bounds, if both parts have them.
// `ends_with_parts` must be false if parts that the snapshot does not contain may be added. If
// there is no estimate of the whole, the last two rules do not apply. Parts that wait for each
// other in a cycle are left unchanged. O(n log n) for n stages, children and edges between them.
void ReconcileForecasts(Snapshot& snapshot, bool ends_with_parts);

}  // namespace tidemark
