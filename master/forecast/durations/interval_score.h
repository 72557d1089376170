// How far off the interval of an earlier run was, and how much wider or narrower that of the next
// one is for it: split conformal prediction ([CP]), which holds whatever the model, as long as runs
// are alike.
//
// With e the end that was said and [l, u] its interval, a look at a run that ended at E scores
//
//   s = (E - e) / (u - e) where E >= e, else (e - E) / (e - l)
//
// and the interval held E where s <= 1. The score of a run is what nine of ten of its looks do not
// exceed, and the half-widths of the next run are multiplied by the 0.9 (n + 1)th smallest of n
// scores, between two of them if that is no whole number: so in nine of ten runs nine of ten looks
// hold. Beside the scores of runs there are always kMadeUp of a normal distribution with a right
// interval, so that the first factor is 1 and a single run moves it by little.
#pragma once

#include <optional>
#include <span>

#include "absl/time/time.h"
#include "master/facts/accuracy.h"
#include "tidemark/past_run.h"

namespace tidemark::model {

// Of a run from `start` to `end` whose intervals were ByEarlierRuns() of factor `factor`: what it
// would have scored without, or more where a bound was cut off at its look or at
// kRemainingUpperMax. Empty where fewer than ten looks had an interval. O(looks).
std::optional<double> IntervalScore(std::span<const EndPrediction> looks, absl::Time start,
                                    absl::Time end, double factor);

// By how much earlier runs have half-widths multiplied; 1 where they tell nothing. Finite, above 0.
// O(runs log runs).
double WidthFactor(std::span<const PastRun> earlier);

// `said` with both half-widths multiplied by `factor`. The lower bound does not go before
// `said.at`, nor the upper one beyond kRemainingUpperMax times what is left unless it was there;
// where that is beyond all instants, there is no interval. Without an interval nothing changes.
EndPrediction ByEarlierRuns(const EndPrediction& said, double factor);

}  // namespace tidemark::model
