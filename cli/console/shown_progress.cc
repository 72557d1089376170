#include "cli/console/shown_progress.h"

#include <algorithm>
#include <cmath>

namespace tidemark::console {
namespace {

// Just below what rounds to a full bar.
constexpr double kRunningMax = 0.999;

}  // namespace

double ShownFraction(double fraction_done, const Snapshot& snapshot) {
  if (snapshot.state == JobState::kSucceeded) return 1;
  return fraction_done >= 0 ? std::min(fraction_done, kRunningMax) : 0.0;
}

int ShownPercent(double fraction_done, const Snapshot& snapshot) {
  // A hair more, so that 0.29 (whose product with 100 is below 29) is shown as 29.
  return static_cast<int>(std::floor(100 * ShownFraction(fraction_done, snapshot) + 1e-9));
}

Snapshot ShownProgress::Next(Snapshot snapshot) {
  if (snapshot.job_id != job_id_ || snapshot.sequence < sequence_) {
    of_indicators_.clear();
    of_phases_.clear();
  }
  job_id_ = snapshot.job_id;
  sequence_ = snapshot.sequence;
  for (Forecast& forecast : snapshot.forecasts) {
    double& shown = of_indicators_[forecast.indicator];
    shown = std::max(shown, ShownFraction(forecast.fraction_done, snapshot));
    forecast.fraction_done = shown;
  }
  for (PhaseProgress& phase : snapshot.phases) {
    double& shown = of_phases_[phase.phase];
    shown = std::max(shown, phase.fraction_done >= 0 ? std::min(phase.fraction_done, 1.0) : 0.0);
    phase.fraction_done = shown;
  }
  return snapshot;
}

}  // namespace tidemark::console
