// Adjusts the intervals of forecasts. IntervalRecord corrects them using the errors of the run,
// ScaledByPastRuns() scales them, and OpenedByLateness() opens them when a job is late (Overdue).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "absl/time/time.h"
#include "master/facts/accuracy.h"
#include "master/facts/checkpoint.h"
#include "tidemark/past_run.h"

namespace tidemark::durations {

// Upper bound of the interval as a multiple of the median remaining time.
inline constexpr double kRemainingUpperMax = 20;

// A factor on half-widths, since sources underestimate their own spread. With 1 instead, the
// coverage of `stress` is 0.86 instead of 0.87, and that of tpcds-live-one-run 0.89 instead of
// 0.91. The forecast of an application that may grow needs no factor, since growth makes it wide.
inline constexpr double kWiden = 1.2;

// Returns true if the forecast has an end and both bounds, all of them finite.
bool HasInterval(const facts::EndPrediction& forecast);

// Corrects the interval of a forecast using the errors of the earlier forecasts of the same run
// from any source.
//
// Let e be the end that a source forecasts at t, and [l, u] its interval, in seconds:
//
//   above = hypot(max(m (e - t), w (u - e)), z a),   the new upper bound is e + above
//   below = hypot(max(m, w ln((e - t) / (l - t))), z d / (e - t)),
//           the new lower bound is t + (e - t) exp(-below)
//   d     = root mean square of (end forecast at s - e) over the forecasts made in the second
//           half of the time since the first, times (e - t) / mean of (t - s), at most 4
//   a     = d, or, for Moves::kLater, sqrt(2) times d with zeros for the ends after e
//
// The error of the earlier forecasts per second of elapsed time is assumed for each remaining
// second, so an end that has just moved by a minute is not accurate to the second. An end that has
// moved later at a steady rate is assumed to continue to move at that rate.
//
// Keeps at most 256 forecasts; a full record discards every second one. Not thread-safe.
class IntervalRecord {
 public:
  // The moves of the end that raise the upper bound. kLater: an end that has only moved sooner does
  // not indicate a later end. kAll: the moved end may have come from a guess of another method, so
  // its error counts in both directions.
  enum class Moves { kAll, kLater };

  // Returns the forecast with the corrected interval and adds its end to the record. If the end or
  // the interval is unknown or infinite, returns the forecast unchanged and adds nothing. A second
  // forecast of the same instant is not added. The lower bound is after `forecast.at` if the
  // source's is. The result has no interval if a bound would be infinite. `factor`: w, at least 1.
  // Neither w nor m moves the upper bound beyond kRemainingUpperMax times the remaining time.
  // REQUIRES: `forecast.at` never decreases. O(recorded forecasts).
  facts::EndPrediction Widen(const facts::EndPrediction& forecast, double factor,
                             Moves raising = Moves::kAll);

  template <class Archive>
  void serialize(Archive& archive) {
    archive(forecasts_, first_at_, last_at_);
  }

 private:
  static constexpr std::size_t kRecordedMax = 256;

  absl::Duration Missed(const facts::EndPrediction& forecast, Moves moves) const;

  facts::PredictionHistory forecasts_{kRecordedMax};
  absl::Time first_at_ = absl::InfiniteFuture();
  absl::Time last_at_ = absl::InfinitePast();
};

// Scales the interval of a run using the errors of past runs, by split conformal prediction ([CP]).
// The method is valid for any forecast if the runs are exchangeable.
//
// With e the forecast end and [l, u] its interval, a forecast of a run that ended at E has the
// score
//
//   s = (E - e) / (u - e) if E >= e, else ln((e - t) / (E - t)) / ln((e - t) / (l - t))
//
// The half-width below the end is a logarithm, so that no factor moves the lower bound to t. The
// interval contained E if s <= 1. The score of a run is the 0.9-quantile of the scores of its
// forecasts. The half-widths of the next run are multiplied by the 0.9 (n + 1)th smallest of n run
// scores, interpolated. In nine of ten runs, nine of ten intervals therefore contain the end. The
// scores of the runs are joined by kPriorScores scores of a normal distribution with a correct
// interval. Therefore the factor starts at 1, and a single run changes it by little.

// Returns the score of a run from `start` to `end` whose intervals had been scaled by `factor`, as
// if they had not been scaled. The score may be too high where a bound was cut off at
// kRemainingUpperMax. Forecasts of the last three seconds do not count. Returns nullopt if fewer
// than ten others had an interval. Cost: O(forecasts).
std::optional<double> IntervalScore(std::span<const facts::EndPrediction> forecasts,
                                    absl::Time start, absl::Time end, double factor);

// Returns the factor on half-widths for the scores of past runs, or 1 if no run has a score. The
// factor is finite and positive. O(runs log runs).
double WidthFactor(std::span<const PastRun> earlier);

// Returns the forecast with both half-widths multiplied by `factor`. The upper bound does not
// exceed kRemainingUpperMax times the remaining time unless it did before. If a bound would be
// infinite, the result has no interval. A forecast without an interval is returned unchanged.
facts::EndPrediction ScaledByPastRuns(const facts::EndPrediction& forecast, double factor);

// Detects that a job has outlived its own forecast.
//
// If the forecast end has passed and nothing ends, the forecast lacks some work, such as a commit,
// a clean-up, or an input of another size. The length of that work is unknown. By Laplace's rule,
// the remaining time exceeds the lateness with probability 1/2, and 19 times the lateness with
// probability 1/20, as for a silence (evidence_loss.h).

// Follows the forecasts of one job. Not thread-safe. Takes O(1) memory.
class Overdue {
 public:
  // Returns the time since the job's forecast end, or zero. `ended` counts all parts of the job
  // that have ended; a change resets the lateness. A forecast that moves later by much more than
  // the lateness also resets it. `grace` is the precision of the ends. Ignores forecasts without an
  // interval. REQUIRES: the times of the forecasts never decrease.
  absl::Duration LateBy(const facts::EndPrediction& forecast, std::uint64_t ended,
                        absl::Duration grace);

  template <class Archive>
  void serialize(Archive& archive) {
    archive(due_, ended_);
  }

 private:
  // The first end that was forecast to be near since `ended_` last changed.
  absl::Time due_ = absl::InfiniteFuture();
  std::uint64_t ended_ = 0;
};

// Returns the forecast of a job that is late by `late`. It ends after as much time again, its
// interval begins now, and its upper bound is open.
facts::EndPrediction OpenedByLateness(facts::EndPrediction forecast, absl::Duration late,
                                      absl::Duration grace);

}  // namespace tidemark::durations
