#include "master/model/shown_progress.h"

#include <algorithm>
#include <cmath>

#include "master/model/indicators/progress_indicator.h"

namespace tidemark::model {
namespace {

constexpr absl::Duration kHeldFor = absl::Seconds(1);

void Raise(double& shown, double& fraction) {
  shown = std::max(shown, fraction);
  fraction = shown;
}

}  // namespace

absl::Duration FlooredRemaining(absl::Duration remaining,
                                std::optional<absl::Duration> remaining_upper) {
  return std::max(remaining, remaining_upper.value_or(remaining) / kRemainingUpperMax);
}

double FractionDone(absl::Duration elapsed, absl::Duration left) {
  const double done = absl::ToDoubleSeconds(elapsed);
  const double to_come = std::max(absl::ToDoubleSeconds(left), 0.0);
  if (!(done > 0) || !std::isfinite(done) || !std::isfinite(to_come)) return 0;
  return std::min(done / (done + to_come), kRunningFractionMax);
}

absl::Time LatestEnd::Hold(absl::Time now, absl::Time end) {
  if (!said_.empty() && said_.back().first >= now) said_.pop_back();
  said_.emplace_back(now, end);
  // The newest that is older than that stays: what was believed when it began.
  while (said_.size() > 2 && said_[1].first <= now - kHeldFor) said_.erase(said_.begin());
  for (const auto& [at, one] : said_) end = std::max(end, one);
  return end;
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
