// Opinions on the same seconds, by draw, from different sources: key groups or sizes of tasks,
// earlier runs, the map side.
#pragma once

#include <cstdint>

#include "master/cost/fixed_draws.h"
#include "master/cost/task_times.h"

namespace tidemark::cost {

// Of the logarithm of what the same work takes when it is done again: by another attempt, in
// another run, or by the second half of a task after its first.
// Ablation: -0.65, +3.44 (join smooth-bend).
inline constexpr double kAgainDeviation = 0.3;
// Of the logarithm of a time when next to nothing is known of it: a factor of e either way.
// Ablation: -0.12, +2.40 (tpcds-live-no-history).
inline constexpr double kUnknownDeviation = 1;
// As how many keys, tasks or runs what is expected of any counts beside those that were seen.
// Ablation: +0.23, -0.32 (tpcds-five-runs).
inline constexpr double kPriorCount = 3;

// The source of an opinion. Each source has its own stream of random numbers.
enum class Opinion : std::uint64_t { kPastRuns = 0, kMapSide, kBytesRead, kOtherJobs };

// Log-normal ones.
Draws LogNormal(double log_median, double deviation, Opinion whose, const FixedDraws& draws);

// Two independent opinions as one. In each draw their logarithms count by their precision, so that
// the draws of the whole scatter as a product of two normal densities does; `own` alone when they
// contradict each other by more than three standard deviations, and when either says now or is
// sure. REQUIRES: as many draws of one as of the other.
Draws Combine(const Draws& own, const Draws& other);

// By draw, what is left of a task that is done with `fraction` of its input after `elapsed`
// seconds. `totals`: by draw, what the whole task takes by all else that is known, all above zero.
// The pace of the task itself counts by its precision, which grows with the fraction, but is never
// perfect: what follows the last record is not of that pace. `u`: by draw, in (0, 1). REQUIRES:
// elapsed and fraction above zero, as many of `u` as of `totals`.
Draws LeftByPace(const Draws& totals, double elapsed, double fraction, const Draws& u);

}  // namespace tidemark::cost
