// What became of the intervals that were given on a run, which is the last word on the next one,
// whatever model made it.
//
// With e the predicted end and [l, u] what a source says, lengths in seconds:
//
//   below = max(m (e - now), hypot(w (e - l), z d)),   above likewise
//   d     = root mean square of (end predicted then - e) over the predictions made in the second
//           half of the time since the first: a forecast that has just jumped by a minute cannot be
//           known to the second
//   given = [e - f below, e + f above], but no f, w or m take the upper bound beyond
//           kRemainingUpperMax times what is left
//   ln f += r (missed - 0.1) x (time since the last prediction / (e - first prediction))
//
// where `missed` is the share of the intervals given so far that do not hold e. The end itself is
// not known before the run is over, but what is known now is known better than it was: where nine
// of ten earlier intervals hold it, f stays; where more of them fail, f grows for as long as they
// do, and so for as long as ends creep in one direction. This is adaptive conformal inference
// ([ACI] in docs/references.md) with e in the place of the truth; f never falls below 1, since that
// ends stand still does not say that they are right.
//
// Memory: at most 256 predictions; when full every second one is forgotten. Not thread-safe.
#pragma once

#include <cstddef>
#include <optional>

#include "absl/time/time.h"
#include "master/model/accuracy.h"

namespace tidemark::model {

// w: sources take their own spread for less than it is. Ablation: coverage -1.8, +7.9.
inline constexpr double kWiden = 1.2;

class IntervalRecord {
 public:
  // `said` with the interval that the record bears, which is kept for later ones. `said.at` never
  // decreases; what is said again at one instant is widened as before and not kept. Without an end
  // or without an interval nothing changes and nothing is kept. Lower bounds stay at or after
  // `said.at` where the end does. O(predictions kept).
  EndPrediction Widen(const EndPrediction& said);

  // f, 1..8.
  double factor() const;

  // For checkpoints (master/model/checkpoint.h).
  template <class Archive>
  void serialize(Archive& archive) {
    archive(given_, first_at_, last_at_, log_factor_);
  }

 private:
  static constexpr std::size_t kGivenMax = 256;

  absl::Duration Moved(const EndPrediction& said) const;
  double MissedShare(absl::Time end) const;
  void Learn(const EndPrediction& said);

  PredictionHistory given_{kGivenMax};
  std::optional<absl::Time> first_at_;
  absl::Time last_at_ = absl::InfinitePast();
  double log_factor_ = 0;
};

}  // namespace tidemark::model
