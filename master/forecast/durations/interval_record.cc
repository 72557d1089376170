#include "master/forecast/durations/interval_record.h"

#include <algorithm>
#include <cmath>

#include "master/forecast/durations/normal.h"

namespace tidemark::model {
namespace {

// m. Ablation: coverage -0.1, +0.4.
constexpr double kHalfWidthMin = 0.08;
// How much further than it was seen a miss is carried on, at most: the first looks say little of
// the last. On 60 runs of two-path in suite stress 2, 4 and 8 leave 18, 15 and 13 % of runs below
// 0.75, at widths of 0.54, 0.64 and 0.75 of what is left (ADR 38). Ablation: coverage -1.4, +1.3.
constexpr double kCarriedMax = 4;

absl::Duration Hypot(absl::Duration a, absl::Duration b) {
  return absl::Seconds(std::hypot(absl::ToDoubleSeconds(a), absl::ToDoubleSeconds(b)));
}

bool IsInstant(const std::optional<absl::Time>& time) {
  return time && *time != absl::InfinitePast() && *time != absl::InfiniteFuture();
}

}  // namespace

bool HasInterval(const EndPrediction& said) {
  return IsInstant(said.end) && IsInstant(said.lower) && IsInstant(said.upper);
}

absl::Duration IntervalRecord::Missed(const EndPrediction& said) const {
  const absl::Time since = first_at_ + (said.at - first_at_) / 2;
  double squares = 0;
  double passed = 0;
  double count = 0;
  for (const EndPrediction& then : said_.predictions()) {
    if (then.at < since || then.at >= said.at) continue;
    const double missed = absl::ToDoubleSeconds(*then.end - *said.end);
    squares += missed * missed;
    passed += absl::ToDoubleSeconds(said.at - then.at);
    count += 1;
  }
  if (count == 0) return absl::ZeroDuration();
  const double left = std::max(absl::ToDoubleSeconds(*said.end - said.at), 0.0);
  const double carried = std::min(left / (passed / count), kCarriedMax);
  return absl::Seconds(carried * std::sqrt(squares / count));
}

EndPrediction IntervalRecord::Widen(const EndPrediction& said) {
  if (!HasInterval(said)) return said;
  const absl::Duration left = std::max(*said.end - said.at, absl::ZeroDuration());
  const absl::Duration missed = cost::kDeviationsOf90Percent * Missed(said);
  const auto half = [&](absl::Duration of_source) {
    return Hypot(std::max(kHalfWidthMin * left, kWiden * of_source), missed);
  };
  const absl::Duration below = half(*said.end - *said.lower);
  const absl::Duration of_source = *said.upper - *said.end;
  const absl::Duration above = std::max(Hypot(of_source, missed),
                                        std::min(half(of_source), (kRemainingUpperMax - 1) * left));
  EndPrediction widened = said;
  widened.lower = std::min(*said.end, std::max(said.at, *said.end - below));
  widened.upper = *said.end + above;
  if (!HasInterval(widened)) {
    widened.lower.reset();
    widened.upper.reset();
  }
  if (said.at > last_at_) {
    first_at_ = std::min(first_at_, said.at);
    last_at_ = said.at;
    said_.Add({.at = said.at, .end = said.end});
  }
  return widened;
}

}  // namespace tidemark::model
