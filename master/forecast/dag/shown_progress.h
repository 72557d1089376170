// How far a job may be shown to be.
//
// A forecast says what is left as a median m and a 90 % interval up to u; after an elapsed time e a
// job is shown at
//
//   e / (e + max(m, u / 40)),
//
// where 40 is twice the widest interval of a job whose work is all known: a job whose median has
// run out is not at its end while its interval is open. A job of stages has at least (1 - k) e
// left, where finished tasks back the times of a part k of the remaining work: the unbacked work is
// expected to take as long as the job has run, and twice as long while nothing is backed. A first
// guess that is too short would lift the bar for the rest of the run. The remaining time counts to
// the latest end that was predicted within HeldFor(); before that time has passed the bar is empty.
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

namespace tidemark::model {

// A running job never shows 100 %.
inline constexpr double kRunningFractionMax = 0.999;

// An end counts once nothing later was given for so long.
inline constexpr absl::Duration kHeldFor = absl::Seconds(1);

// Returns for how long a later end counts: a second, and a tenth of the elapsed time of an
// application that may grow. Between two jobs of such an application its known work is done, and a
// bar that never falls would stay for the rest of the run where such a moment has put it.
absl::Duration HeldFor(absl::Duration elapsed, bool may_grow);

// max(m, u / 40). Never below `remaining` where that is not negative.
absl::Duration FlooredRemaining(absl::Duration remaining,
                                std::optional<absl::Duration> remaining_upper);

// Returns (1 - k) e, or 2 e if k is 0. `known_share`: k, 0..1.
absl::Duration UnknownRemaining(absl::Duration elapsed, double known_share);

// e / (e + left), 0..kRunningFractionMax.
double FractionDone(absl::Duration elapsed, absl::Duration left);

// The latest end that a forecast has given recently, and by the update before: one
// update that knows too much, as when the first key group of all has ended, moves no bar. Not
// thread-safe. Memory: O(1), 64 ends at most.
class LatestEnd {
 public:
  // What is believed at `now`, which never decreases; an infinite `end`: nothing.
  absl::Time Hold(absl::Time now, absl::Time end, absl::Duration held_for = kHeldFor);

  // For checkpoints (master/facts/checkpoint.h).
  template <class Archive>
  void serialize(Archive& archive) {
    archive(said_, is_unknown_, unknown_until_);
  }

 private:
  void ForgetOne();

  // Until when it was believed, and which end; each earlier than the one before.
  std::vector<std::pair<absl::Time, absl::Time>> said_;
  bool is_unknown_ = false;  // by the last update
  absl::Time unknown_until_ = absl::InfinitePast();
};

// Keeps what one job, or a workflow and its jobs, has shown, so that none of it goes back. Not
// thread-safe.
class ShownProgress {
 public:
  // Raises each fraction_done of `snapshot` to what was shown before: of the job, by indicator; of
  // a child; of a stage, by the same attempt of it; of a group. REQUIRES: its stages and their
  // infos are in one order. O((children + stages + groups) log of them).
  void NeverBack(Snapshot& snapshot);
  // The job was shown so far before a restart.
  void Restore(double fraction_done);
  // Another job takes the place of a child.
  void Forget(std::uint32_t child) { parts_.erase(child); }

  // For checkpoints (master/facts/checkpoint.h).
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
  std::map<std::string, double> of_last_stage_;  // likewise
  std::map<std::uint32_t, Part> parts_;          // by child; 0: the job itself
  std::map<std::string, double> of_groups_;      // by group
};

}  // namespace tidemark::model
