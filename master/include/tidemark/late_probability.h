// The probability that a job misses its deadline, which the interval of its estimate determines.
#pragma once

#include <optional>

#include "absl/time/time.h"
#include "tidemark/job.h"

namespace tidemark {

// Returns the probability that the remaining time of a job exceeds `left`. It is 0.95 at the lower
// bound, 0.5 at the median and 0.05 at the upper bound
// (docs/internals/adr/0064-derive-lateness-from-the-interval.md). Distances from the median count
// as ratios of the time since the start. `elapsed`: time since the start of the job. The result is
// within 0.001..0.999, and 1 if no time is left. It does not grow with `left`. Returns nullopt if
// there is no interval or if its bounds contradict each other. O(1).
std::optional<double> LateProbability(const Range& remaining, absl::Duration elapsed,
                                      absl::Duration left);

// Returns the probability that the job succeeds only after `deadline`. Returns 0 or 1 after the job
// has succeeded, and 1 while the job is not final and the deadline has passed.
// Snapshot::late_probability describes when there is no value. O(1).
std::optional<double> LateProbability(const Snapshot& snapshot, absl::Time deadline);

}  // namespace tidemark
