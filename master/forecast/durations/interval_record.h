// What became of the ends that were predicted on a run, which is the last word on the interval of
// the next one, whatever model made it.
//
// With e the end that a source predicts at t and [l, u] its interval, lengths in seconds:
//
//   below = hypot(max(m (e - t), w (e - l)), z d),   above likewise
//   d     = root mean square of (end predicted at s - e) over the predictions made in the second
//           half of the time since the first, times (e - t) / mean of (t - s), at most 4
//
// The ends of then have been wrong by d, as far as is known by now, in the time that has passed
// since; what is said now may be wrong as much in each second that is left. A forecast that has
// just jumped by a minute is not known to the second, and one that creeps, since what comes is
// always dearer than what was, creeps on.
//
// Memory: at most 256 predictions; when full every second one is forgotten. Not thread-safe.
#pragma once

#include <cstddef>
#include <optional>

#include "absl/time/time.h"
#include "master/facts/accuracy.h"

namespace tidemark::model {

// Upper bound of the interval, as a multiple of the expected remaining time.
inline constexpr double kRemainingUpperMax = 20;

// w: sources take their own spread for less than it is. Ablation: coverage -1.3, +4.1.
inline constexpr double kWiden = 1.2;

// Whether `said` has an end and an interval, and all of them are instants.
bool HasInterval(const EndPrediction& said);

class IntervalRecord {
 public:
  // `said` with the interval that the record bears; its end is kept for later ones. `said.at` never
  // decreases; what is said again at one instant is not kept. Without an end or without an
  // interval, and where one of them is no instant, nothing changes and nothing is kept; where the
  // wider interval reached beyond all instants, there is none. The lower
  // bound is not before `said.at` unless the end is; neither w nor m take the upper one beyond
  // kRemainingUpperMax times what is left. O(predictions kept).
  EndPrediction Widen(const EndPrediction& said);

  // For checkpoints (master/facts/checkpoint.h).
  template <class Archive>
  void serialize(Archive& archive) {
    archive(said_, first_at_, last_at_);
  }

 private:
  static constexpr std::size_t kSaidMax = 256;

  absl::Duration Missed(const EndPrediction& said) const;

  PredictionHistory said_{kSaidMax};
  absl::Time first_at_ = absl::InfiniteFuture();
  absl::Time last_at_ = absl::InfinitePast();
};

}  // namespace tidemark::model
