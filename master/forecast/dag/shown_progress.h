// The shown progress of a job, which is its forecast.
//
// A forecast has a remaining time with the median m. After an elapsed time e, the job shows
// e / (e + m). If the forecast is raised, the shown progress moves back to it at a limited rate, so
// that readers see why. A guess is replaced at once. While the end is unknown, the shown progress
// does not move.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "master/facts/checkpoint.h"
#include "tidemark/job.h"

namespace tidemark::dag {

// A running job never shows 100 %.
inline constexpr double kRunningFractionMax = 0.999;

// Returns e / (e + left), within 0..kRunningFractionMax.
double FractionDone(absl::Duration elapsed, absl::Duration left);

// The shown progress of one job or group. Not thread-safe. Memory and cost: O(1).
class ShownProgress {
 public:
  // Sets the shown fraction of `estimate`. Returns why it has moved back within the last seconds,
  // until the forecast reaches the earlier fraction again. `stages`: number of stages that the
  // forecast contains. `cause`: why it rises if no stage has appeared. REQUIRES: `elapsed` never
  // decreases.
  std::optional<EstimateRaised> Show(absl::Duration elapsed, std::uint32_t stages, RaiseCause cause,
                                     Estimate& estimate);
  // Sets the shown fraction of `estimate` during a silence. Call it after Show() with the estimate
  // before the silence. The fraction does not rise, even if no master listened during a part of the
  // silence. REQUIRES: `estimate.remaining` is set.
  void ShowSilent(absl::Duration elapsed, Estimate& estimate);
  double fraction_done() const { return fraction_; }
  // Restores the shown fraction after a restart.
  void Restore(double fraction_done) {
    fraction_ = high_ = fraction_done;
    is_supported_ = true;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(fraction_, is_supported_, elapsed_, stages_, high_, stages_at_high_, fell_at_, cause_,
            grew_at_, silent_max_);
  }

 private:
  double fraction_ = 0;        // at the last call
  bool is_supported_ = false;  // whether it was more than a guess
  absl::Duration elapsed_;
  std::uint32_t stages_ = 0;
  double high_ = 0;  // the fraction from which it moves back
  std::uint32_t stages_at_high_ = 0;
  absl::Duration fell_at_;  // elapsed time of the first call that moved it back from high_
  RaiseCause cause_ = RaiseCause::kUnknown;  // of the last move back
  absl::Duration grew_at_;  // elapsed time of the last call with more stages than before
  double silent_max_ = 1;   // lowest fraction shown during the present silence
};

}  // namespace tidemark::dag
