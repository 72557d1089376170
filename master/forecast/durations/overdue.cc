#include "master/forecast/durations/overdue.h"

#include <algorithm>
#include <utility>

#include "master/facts/silence.h"
#include "master/forecast/durations/interval_record.h"

namespace tidemark::model {
namespace {

// The remaining time exceeds this many times the lateness with a probability of 5 %.
constexpr double kLatenessMore = 19;
// A forecast has moved on if its remaining time is more than this many times the lateness. A late
// job whose forecast follows Laplace has a median remaining time of once the lateness.
constexpr double kMovedOn = 2;

}  // namespace

absl::Duration Overdue::LateBy(const EndPrediction& forecast, std::uint64_t ended,
                               absl::Duration grace) {
  if (std::exchange(ended_, ended) != ended) due_ = absl::InfiniteFuture();
  if (HasInterval(forecast)) {
    const absl::Duration left = *forecast.end - forecast.at;
    const absl::Duration late = std::max(forecast.at - due_, absl::ZeroDuration());
    if (left > kMovedOn * late + grace) due_ = absl::InfiniteFuture();
    if (left <= grace) due_ = std::min(due_, *forecast.end);
  }
  return std::max(forecast.at - due_, absl::ZeroDuration());
}

EndPrediction OpenedByLateness(EndPrediction forecast, absl::Duration late, absl::Duration grace) {
  if (late <= absl::ZeroDuration()) return forecast;
  // Ends are known to a precision of `grace`, and may be reported late by a pause shorter than a
  // silence.
  const absl::Duration lateness = late + grace + kShortestSilence;
  const absl::Time open = forecast.at + kLatenessMore * lateness;
  forecast.end = std::max(forecast.end.value_or(forecast.at), forecast.at);
  forecast.lower = forecast.at;
  forecast.upper = std::max({forecast.upper.value_or(open), open, *forecast.end});
  return forecast;
}

}  // namespace tidemark::model
