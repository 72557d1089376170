// How far a job may be shown to be.
//
// A forecast says what is left as a median m and a 90 % interval [l, u]; after an elapsed time e, a
// job with R left has done e / (e + R). A bar that must not go back should rather be behind: one
// that is ahead stands still until the job has caught up. So what is shown is the fraction that the
// job has reached with a probability of two thirds,
//
//   e / (e + q),   ln q = ln m + k (ln u - ln m),   k = z(2/3) / z(0.95) = 0.262
//
// with what is left taken for log-normal above its median. While the interval spans a factor of
// twenty on either side that is a good third of the way to its cautious end, and as the interval
// closes it becomes e / (e + m). And q counts to the latest end that was given within a second.
//
// Two thirds: before there is evidence the part of a job that is over when its map phase ends is
// about as likely to be any (master/model/tidemark/map_side.h). Of a bar that is at x then, the
// mean distance from the truth is least for x = 1 / sqrt(3 w + 1), where being ahead counts w times
// as much as being behind; a third is the best for w near three.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "master/model/checkpoint.h"
#include "tidemark/snapshot.h"

namespace tidemark::model {

// A running job never shows 100 %.
inline constexpr double kRunningFractionMax = 0.999;

// q: what is to be taken for left of a job that has `remaining` left, at most `remaining_upper` if
// that is known. Never below `remaining` where that is not negative.
absl::Duration CautiousRemaining(absl::Duration remaining,
                                 std::optional<absl::Duration> remaining_upper);

// e / (e + q), 0..kRunningFractionMax.
double FractionDone(absl::Duration elapsed, absl::Duration left);

// Both.
inline double CautiousFraction(absl::Duration elapsed, absl::Duration remaining,
                               std::optional<absl::Duration> remaining_upper) {
  return FractionDone(elapsed, CautiousRemaining(remaining, remaining_upper));
}

// The latest end that a forecast has given within the last second, and by the update before: one
// update that knows too much, as when the first key group of all has ended, moves no bar. Not
// thread-safe. Memory: an update each that the second has seen.
class LatestEnd {
 public:
  // What is believed at `now`, which never decreases; an infinite `end`: nothing.
  absl::Time Hold(absl::Time now, absl::Time end);

  // For checkpoints (master/model/checkpoint.h).
  template <class Archive>
  void serialize(Archive& archive) {
    archive(said_);
  }

 private:
  std::vector<std::pair<absl::Time, absl::Time>> said_;  // when, and which end
};

// Keeps what one job has shown. Not thread-safe.
class ShownProgress {
 public:
  // Raises each fraction of `snapshot`, of forecasts and of phases, to what was shown before.
  void NeverBack(Snapshot& snapshot);

  // For checkpoints (master/model/checkpoint.h).
  template <class Archive>
  void serialize(Archive& archive) {
    archive(of_job_, of_reduce_, of_phases_);
  }

 private:
  std::map<std::string, double> of_job_;     // by indicator
  std::map<std::string, double> of_reduce_;  // likewise
  std::map<int, double> of_phases_;          // by Phase
};

}  // namespace tidemark::model
