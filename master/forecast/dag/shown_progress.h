// The shown progress of a job.
//
// A forecast has a remaining time with the median m and the 90 % upper bound u. After an elapsed
// time e, the job shows
//
//   e / (e + max(m, u / 40)),
//
// where 40 is twice the widest interval of a job with known work. A job with a median remaining
// time of zero is not at its end while its interval is open. A job of stages has a remaining time
// of at least (1 - k) e. Here k is the part of the remaining work whose times follow from finished
// tasks. The other work is expected to take as long as the job has run, and twice as long if k is
// 0. A first guess that is too short would otherwise lift the bar for the rest of the run. The
// remaining time belongs to the latest end that was forecast within the last HeldFor(). While the
// end is unknown, and for kHeldFor afterwards, the bar does not move.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "master/facts/checkpoint.h"
#include "tidemark/job.h"

namespace tidemark::dag {

// A running job never shows 100 %.
inline constexpr double kRunningFractionMax = 0.999;

// An end counts if no later end was forecast for this long.
inline constexpr absl::Duration kHeldFor = absl::Seconds(1);

// Returns for how long a later end counts. This is a second or, if longer, a tenth of the elapsed
// time of an application that may grow. Between two jobs of such an application, its known work is
// done, but the bar must not jump to its end.
absl::Duration HeldFor(absl::Duration elapsed, bool may_grow);

// Returns max(m, u / 40), at least `remaining` if that is not negative.
absl::Duration FlooredRemaining(absl::Duration remaining,
                                std::optional<absl::Duration> remaining_upper);

// Returns (1 - k) e, or 2 e if k is 0. `known_share`: k, 0..1.
absl::Duration UnknownRemaining(absl::Duration elapsed, double known_share);

// Returns e / (e + left), within 0..kRunningFractionMax.
double FractionDone(absl::Duration elapsed, absl::Duration left);

// The latest of the ends that were forecast recently, including the previous update. A single
// update with an early end, such as the first finished key group, therefore does not move the bar.
// Not thread-safe. Memory: O(1), at most 64 ends.
class LatestEnd {
 public:
  // Adds the end forecast at `now`, and returns the latest one; an infinite end is unknown.
  // REQUIRES: `now` never decreases.
  absl::Time Hold(absl::Time now, absl::Time end, absl::Duration held_for = kHeldFor);

  template <class Archive>
  void serialize(Archive& archive) {
    archive(ends_, is_unknown_, unknown_until_);
  }

 private:
  void RemoveOne();

  // The ends in descending order, each after the time until which it was the forecast.
  std::vector<std::pair<absl::Time, absl::Time>> ends_;
  bool is_unknown_ = false;  // at the last update
  absl::Time unknown_until_ = absl::InfinitePast();
};

// Keeps the shown progress of a job, or of a workflow and its jobs, from falling. Not thread-safe.
class ShownProgress {
 public:
  // Raises each fraction_done of `snapshot` to the largest one shown before. Each indicator, child,
  // stage attempt and group has a fraction. REQUIRES: the stages and their infos have the same
  // order. Cost: O(n log n) for n children, stages and groups.
  void KeepMonotonic(Snapshot& snapshot);
  // Restores the shown fraction after a restart.
  void Restore(double fraction_done);
  // Discards the progress of a child that another job replaces.
  void Forget(std::uint32_t child) { parts_.erase(child); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(of_job_, of_last_stage_, parts_[0].stages, of_groups_);
  }

 private:
  struct Stage {
    std::uint32_t attempt = 0;
    double fraction_done = 0;
    double fetched = 0;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(attempt, fraction_done, fetched);
    }
  };

  struct Part {
    double fraction_done = 0;
    std::map<std::uint32_t, Stage> stages;  // by number
  };

  std::map<std::string, double> of_job_;         // by indicator
  std::map<std::string, double> of_last_stage_;  // by indicator
  std::map<std::uint32_t, Part> parts_;          // by child; 0 is the job itself
  std::map<std::string, double> of_groups_;      // by group
};

}  // namespace tidemark::dag
