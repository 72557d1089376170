// Opinions on the same seconds, by draw, from different sources: key groups or sizes of tasks,
// earlier runs, the map side.
#pragma once

#include <cstdint>

#include "master/forecast/durations/fixed_draws.h"
#include "master/forecast/durations/input_pace.h"
#include "master/forecast/durations/task_times.h"

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

// Combines two independent estimates. In each draw their logarithms count by their precision, so
// that the draws of the result scatter as a product of two normal densities does. If the two differ
// by more than three standard deviations, `other` counts by `weight_in_doubt`, 0..1. Returns `own`
// alone if either is zero or has no spread. REQUIRES: as many draws of one as of the other.
Draws Combine(const Draws& own, const Draws& other, double weight_in_doubt = 0);

// Returns by draw the remaining time of a task that has run for `elapsed` seconds. `totals`: by
// draw, the total time of the task by all else that is known, all above zero. `paced`: the same by
// the task's own pace, which counts by its precision but is never perfect. `u`: by draw, in (0, 1).
// REQUIRES: elapsed and paced.seconds above zero, as many of `u` as of `totals`.
Draws LeftByPace(const Draws& totals, double elapsed, const PacedTotal& paced, const Draws& u);

}  // namespace tidemark::cost
