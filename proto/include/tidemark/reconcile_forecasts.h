// Forecasts within one snapshot that agree with each other.
//
// The parts of a snapshot are estimated together, in the same simulated futures. Afterwards each
// forecast is rounded, repeated while it holds, and widened on its own. Without a correction, a job
// could seem to end before it starts, or the last job before the workflow.
#pragma once

#include "tidemark/job.h"

namespace tidemark {

// Changes forecasts of stages, children and groups as little as needed, so that
//
//   a part starts no sooner than the parts that it waits for end,
//   a part ends no sooner than it starts, and a child no sooner than its stages,
//   no part starts or ends later than the whole ends,
//   the part that ends last ends with the whole, if `ends_with_parts`.
//
// Each holds for medians, for lower and for upper bounds, where both parts have them. Set
// `ends_with_parts` to false if parts that the snapshot does not have may still come. Without an
// estimate of the whole, the last two do not apply. Parts that wait for each other in a cycle are
// left as they are. O(n log n) for n stages, children and edges between them.
void ReconcileForecasts(Snapshot& snapshot, bool ends_with_parts);

}  // namespace tidemark
