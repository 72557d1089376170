#include "master/forecast/durations/intervals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "master/facts/evidence_loss.h"
#include "master/forecast/durations/draws.h"

namespace tidemark::durations {
namespace {

bool IsInstant(const std::optional<absl::Time>& time) {
  return time && *time != absl::InfinitePast() && *time != absl::InfiniteFuture();
}

}  // namespace

bool HasInterval(const facts::EndPrediction& forecast) {
  return IsInstant(forecast.end) && IsInstant(forecast.lower) && IsInstant(forecast.upper);
}

namespace {

// The factor m (intervals.h). Ablation: coverage -0.1, +0.4.
constexpr double kHalfWidthMin = 0.08;
// The largest factor by which an error is extrapolated, since the first forecasts indicate little
// about the last. Measured on 60 runs of two-path in the suite stress (ADR 34). With 2, 4 and 8,
// the coverage of 18, 15 and 13 % of the runs is below 0.75. The widths are 0.54, 0.64 and 0.75 of
// the remaining time. Ablation: coverage -1.4, +1.3.
constexpr double kCarriedMax = 4;

// Returns the logarithm of the ratio of the median remaining time to the lower bound. It is
// infinite if the lower bound is the present instant.
double LogBelow(const facts::EndPrediction& forecast) {
  if (*forecast.lower >= *forecast.end) return 0;
  const absl::Duration lower = *forecast.lower - forecast.at;
  if (lower <= absl::ZeroDuration()) return std::numeric_limits<double>::infinity();
  return std::log(absl::FDivDuration(*forecast.end - forecast.at, lower));
}

// Replaces the half-widths of the interval. The lower bound does not fall below the median
// remaining time divided by kRemainingUpperMax unless it was below. Drops the interval if a bound
// is infinite.
void SetInterval(double log_below, absl::Duration above, facts::EndPrediction& forecast) {
  const absl::Duration left = std::max(*forecast.end - forecast.at, absl::ZeroDuration());
  log_below = std::min(log_below, std::max(LogBelow(forecast), std::log(kRemainingUpperMax)));
  forecast.lower = std::min(*forecast.end, forecast.at + left * std::exp(-log_below));
  forecast.upper = *forecast.end + above;
  if (HasInterval(forecast)) return;
  forecast.lower.reset();
  forecast.upper.reset();
}

}  // namespace

absl::Duration IntervalRecord::Missed(const facts::EndPrediction& forecast, Moves moves) const {
  const absl::Time since = first_at_ + (forecast.at - first_at_) / 2;
  double squares = 0;
  double passed = 0;
  double count = 0;
  for (const facts::EndPrediction& earlier : forecasts_.predictions()) {
    if (earlier.at < since || earlier.at >= forecast.at) continue;
    const double missed = absl::ToDoubleSeconds(*earlier.end - *forecast.end);
    if (moves == Moves::kAll || missed < 0) squares += missed * missed;
    passed += absl::ToDoubleSeconds(forecast.at - earlier.at);
    count += 1;
  }
  if (count == 0) return absl::ZeroDuration();
  const double left = std::max(absl::ToDoubleSeconds(*forecast.end - forecast.at), 0.0);
  const double carried = std::min(left / (passed / count), kCarriedMax);
  // An end that moves at random moves later half of the time.
  const double directions = moves == Moves::kAll ? 1 : 2;
  return absl::Seconds(carried * std::sqrt(directions * squares / count));
}

facts::EndPrediction IntervalRecord::Widen(const facts::EndPrediction& forecast, double factor,
                                           Moves raising) {
  if (!HasInterval(forecast)) return forecast;
  const double left = std::max(absl::ToDoubleSeconds(*forecast.end - forecast.at), 0.0);
  const auto missed = [&](Moves moves) {
    return kDeviationsOf90Percent * absl::ToDoubleSeconds(Missed(forecast, moves));
  };
  const double of_source = absl::ToDoubleSeconds(*forecast.upper - *forecast.end);
  const double above =
      std::max(of_source, std::min(std::max(kHalfWidthMin * left, factor * of_source),
                                   (kRemainingUpperMax - 1) * left));
  const double below = std::max(kHalfWidthMin, factor * LogBelow(forecast));
  facts::EndPrediction widened = forecast;
  SetInterval(left > 0 ? std::hypot(below, missed(Moves::kAll) / left) : below,
              absl::Seconds(std::hypot(above, missed(raising))), widened);
  if (forecast.at > last_at_) {
    first_at_ = std::min(first_at_, forecast.at);
    last_at_ = forecast.at;
    forecasts_.Add({.at = forecast.at, .end = forecast.end});
  }
  return widened;
}

namespace {

constexpr double kHeld = 0.9;
// With fewer forecasts, as in jobs of a second or two, 90 % of the forecasts cannot be
// distinguished from all of them.
constexpr std::size_t kForecastsMin = 10;
// With 9, fewer runs of `stress` have a coverage below 0.75 (7 % instead of 11 %), at twice the
// width, but more runs of `paper` do (6 % instead of 4 %); see ADR 42.
constexpr std::size_t kPriorScores = 19;
// Upper bound of a score. Larger errors carry no more information.
constexpr double kScoreMax = 20;

double ScoreOf(const facts::EndPrediction& forecast, absl::Time end) {
  facts::EndPrediction exact = forecast;
  exact.lower = end;
  const bool is_late = end >= *forecast.end;
  const double off = is_late ? absl::ToDoubleSeconds(end - *forecast.end) : LogBelow(exact);
  const double half =
      is_late ? absl::ToDoubleSeconds(*forecast.upper - *forecast.end) : LogBelow(forecast);
  if (!(off > 0) || std::isinf(half)) return 0;
  return half > 0 ? std::min(off / half, kScoreMax) : kScoreMax;
}

// Returns |z| of a normal distribution at evenly spaced probabilities, divided by |z| at the bounds
// of its 90 % interval.
std::array<double, kPriorScores> PriorScores() {
  std::array<double, kPriorScores> scores;
  for (std::size_t i = 0; i < kPriorScores; ++i) {
    const double below = static_cast<double>(i + 1) / (kPriorScores + 1);
    scores[i] = NormalQuantile((1 + below) / 2) / NormalQuantile((1 + kHeld) / 2);
  }
  return scores;
}

}  // namespace

std::optional<double> IntervalScore(std::span<const facts::EndPrediction> forecasts,
                                    absl::Time start, absl::Time end, double factor) {
  std::vector<double> scores;
  for (const facts::EndPrediction& forecast : forecasts) {
    // Just before the end, the smallest error is many times the remaining time.
    const bool is_at_end = end - forecast.at < facts::kShortestSilence;
    if (forecast.at <= start || is_at_end || !HasInterval(forecast)) continue;
    scores.push_back(ScoreOf(forecast, end));
  }
  if (scores.size() < kForecastsMin) return std::nullopt;
  const auto count = static_cast<double>(scores.size());
  const auto place = static_cast<std::ptrdiff_t>(std::ceil(kHeld * count)) - 1;
  std::ranges::nth_element(scores, scores.begin() + place);
  return std::min(factor * scores[static_cast<std::size_t>(place)], kScoreMax);
}

double WidthFactor(std::span<const PastRun> earlier) {
  static const std::array<double, kPriorScores> prior = PriorScores();
  std::vector<double> scores(prior.begin(), prior.end());
  for (const PastRun& run : earlier) {
    if (!run.interval_score || std::isnan(*run.interval_score)) continue;
    scores.push_back(std::clamp(*run.interval_score, 0.0, kScoreMax));
  }
  if (scores.size() == kPriorScores) return 1;
  std::ranges::sort(scores);
  const double place = kHeld * static_cast<double>(scores.size() + 1) - 1;
  const auto below = static_cast<std::size_t>(place);
  return std::lerp(scores[below], scores[below + 1], place - static_cast<double>(below));
}

facts::EndPrediction ScaledByPastRuns(const facts::EndPrediction& forecast, double factor) {
  if (!HasInterval(forecast) || factor == 1) return forecast;
  const absl::Duration left = std::max(*forecast.end - forecast.at, absl::ZeroDuration());
  const absl::Duration above = *forecast.upper - *forecast.end;
  const absl::Duration above_max = std::max(above, (kRemainingUpperMax - 1) * left);
  facts::EndPrediction scaled = forecast;
  SetInterval(factor * LogBelow(forecast), std::min(factor * above, above_max), scaled);
  return scaled;
}

namespace {

// With a probability of 5 %, the remaining time exceeds this multiple of the lateness.
constexpr double kLatenessMore = 19;
// A forecast has moved if its remaining time exceeds this multiple of the lateness. By Laplace's
// rule, the median remaining time of a late job equals the lateness.
constexpr double kMovedOn = 2;

}  // namespace

absl::Duration Overdue::LateBy(const facts::EndPrediction& forecast, std::uint64_t ended,
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

facts::EndPrediction OpenedByLateness(facts::EndPrediction forecast, absl::Duration late,
                                      absl::Duration grace) {
  if (late <= absl::ZeroDuration()) return forecast;
  // An end is known to within `grace`. The report of the end may also be delayed by up to
  // kShortestSilence, since a shorter pause is not a silence.
  const absl::Duration lateness = late + grace + facts::kShortestSilence;
  const absl::Time open = forecast.at + kLatenessMore * lateness;
  // A job that is late by t is late by as much again with a probability of one half.
  forecast.end = std::max(forecast.end.value_or(forecast.at), forecast.at + late);
  forecast.lower = forecast.at;
  forecast.upper = std::max({forecast.upper.value_or(open), open, *forecast.end});
  return forecast;
}

}  // namespace tidemark::durations
