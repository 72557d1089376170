#include "master/model/shown_progress.h"

#include <algorithm>
#include <cmath>

#include "master/model/indicators/progress_indicator.h"

namespace tidemark::model {
namespace {

// Of the way from the median to the 95 % quantile, where two thirds of a normal variable lie below.
constexpr double kTwoThirds = 0.4307273 / 1.6448536;

void Raise(double& shown, double& fraction) {
  shown = std::max(shown, fraction);
  fraction = shown;
}

}  // namespace

double CautiousFraction(absl::Duration elapsed, absl::Duration remaining,
                        std::optional<absl::Duration> remaining_upper) {
  const double done = absl::ToDoubleSeconds(elapsed);
  double left = std::max(absl::ToDoubleSeconds(remaining), 0.0);
  if (!(done > 0) || !std::isfinite(done)) return 0;
  if (remaining_upper && *remaining_upper > remaining) {
    const double upper = absl::ToDoubleSeconds(*remaining_upper);
    // A median of nothing is no more than the least that an interval lets it be.
    left = std::max(left, upper / kRemainingUpperMax);
    left *= std::pow(upper / left, kTwoThirds);
  }
  if (!std::isfinite(left)) return 0;
  return std::min(done / (done + left), kRunningFractionMax);
}

void ShownProgress::NeverBack(Snapshot& snapshot) {
  for (Forecast& forecast : snapshot.forecasts) {
    Raise(of_job_[forecast.indicator], forecast.fraction_done);
    Raise(of_reduce_[forecast.indicator], forecast.reduce_fraction_done);
  }
  for (PhaseProgress& phase : snapshot.phases) {
    Raise(of_phases_[static_cast<int>(phase.phase)], phase.fraction_done);
  }
}

}  // namespace tidemark::model
