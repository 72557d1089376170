// Bounds that also admit how much the predicted end of a workflow has moved recently: stages that
// were not expected have come before, and more may.
#pragma once

#include <algorithm>
#include <cmath>

#include "absl/time/time.h"
#include "master/cost/normal.h"
#include "master/model/indicators/end_drift.h"

namespace tidemark::workflow {

// Notes that at `now` the workflow was expected to go on for `remaining` seconds, and widens the
// bounds around that. How far the end has moved counts as one standard deviation. `now` never
// decreases. O(1), amortised.
inline void WidenByDrift(absl::Time now, double remaining, model::EndDrift& drift, double& lower,
                         double& upper) {
  drift.Observe(now, now + absl::Seconds(remaining));
  const double moved = cost::kDeviationsOf90Percent * absl::ToDoubleSeconds(drift.Drift());
  if (!std::isfinite(moved)) return;
  lower = std::max(0.0, remaining - std::hypot(remaining - lower, moved));
  upper = remaining + std::hypot(upper - remaining, moved);
}

}  // namespace tidemark::workflow
