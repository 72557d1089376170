#include "cli/console/shown_percent.h"

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

}  // namespace tidemark::console
