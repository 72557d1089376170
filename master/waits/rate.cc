#include "master/waits/rate.h"

#include <algorithm>

namespace tidemark::blame {

std::optional<double> SecondsPerUnit(const Waited& waited) {
  if (waited.measured_seconds <= 0 && waited.wait_seconds <= 0) return std::nullopt;
  if (waited.rated_units > 0) return waited.rated_wait_seconds / waited.rated_units;
  if (waited.wait_seconds <= 0) return 0;
  return std::nullopt;
}

double FractionalConcurrency(double overlap_seconds, double target_seconds) {
  if (target_seconds <= 0) return 0;
  return overlap_seconds / target_seconds;
}

std::optional<double> Blame(double fractional_concurrency, const Waited& target,
                            const Waited& source) {
  const std::optional<double> target_rate = SecondsPerUnit(target);
  const std::optional<double> source_rate = SecondsPerUnit(source);
  if (!target_rate.has_value() || !source_rate.has_value()) return std::nullopt;
  // Whoever asked for nothing took nothing.
  if (source.rated_units <= 0 || *target_rate <= 0) return 0;
  const double ratio =
      *target_rate >= kRateRatioMax * *source_rate ? kRateRatioMax : *target_rate / *source_rate;
  return fractional_concurrency * ratio;
}

}  // namespace tidemark::blame
