#include "master/forecast/durations/combined_estimates.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "master/forecast/durations/draws.h"

namespace tidemark::durations {

void ReadShare::Add(double read_for, double seconds) {
  if (!std::isfinite(seconds) || !(read_for > 0) || !(seconds > 0)) return;
  const double log = std::log(std::min(read_for / seconds, 1.0));
  count_ += 1;
  logs_ += log;
  squares_ += log * log;
}

PacedTotal ReadShare::TotalOf(double read_for, double fraction) const {
  const double read = std::min(fraction, 1.0);
  const double log_share = count_ > 0 ? logs_ / count_ : 0;
  const double variance = count_ > 0 ? std::max(squares_ / count_ - log_share * log_share, 0.0) : 0;
  // Work after the last byte varies between executions like other work.
  const double of_rest = kRepeatDeviation * (1 - std::exp(log_share));
  return {.seconds = read_for / read * std::exp(-log_share),
          .deviation = std::hypot(kRepeatDeviation * std::sqrt((1 - read) / read),
                                  std::sqrt(variance), of_rest)};
}

namespace {

// Draws of zero have no logarithm, so this fraction of the median replaces them. Chosen by hand.
constexpr double kLowestShare = 0.05;

struct LogMoments {
  double median = 0;
  double deviation = 0;

  // Returns false if the median is zero or the draws have no spread.
  bool can_be_weighed() const {
    return std::isfinite(median) && std::isfinite(deviation) && deviation > 0;
  }
};

LogMoments LogMomentsOf(Draws seconds) {
  const double median = QuantileOf(seconds, 0.5);
  const double lower = std::max(QuantileOf(seconds, 0.05), kLowestShare * median);
  const double upper = QuantileOf(seconds, 0.95);
  return {std::log(median), std::log(upper / lower) / (2 * kDeviationsOf90Percent)};
}

// Lower bound of the deviation of ln(task time) from the pace and from other evidence. Chosen by
// hand.
constexpr double kDeviationMin = 0.1;

}  // namespace

Draws LogNormal(double log_median, double deviation, EstimateSource source,
                const FixedDraws& draws) {
  Draws seconds = draws.Normals(Drawn::kSource, static_cast<std::uint64_t>(source));
  for (double& time : seconds) time = std::exp(log_median + deviation * time);
  return seconds;
}

namespace {

// Returns the weighted mean of two estimates in logarithms, by draw.
Draws Weighed(const Draws& own, const LogMoments& of_own, const Draws& other, double weight) {
  if (weight == 0) return own;
  const double lowest = kLowestShare * std::exp(of_own.median);
  Draws both;
  both.reserve(own.size());
  for (std::size_t d = 0; d < own.size(); ++d) {
    both.push_back(
        std::exp((1 - weight) * std::log(std::max(own[d], lowest)) + weight * std::log(other[d])));
  }
  return both;
}

}  // namespace

Draws Combine(const Draws& own, const Draws& other, double weight_in_doubt) {
  const LogMoments of_own = LogMomentsOf(own);
  const LogMoments of_other = LogMomentsOf(other);
  const double own_variance = of_own.deviation * of_own.deviation;
  const double variance = own_variance + of_other.deviation * of_other.deviation;
  const double off = of_other.median - of_own.median;
  if (!of_own.can_be_weighed() || !of_other.can_be_weighed()) return own;
  return Weighed(own, of_own, other,
                 Contradict(off, variance) ? weight_in_doubt : own_variance / variance);
}

Draws CombineIfVague(const Draws& own, const Draws& other) {
  const LogMoments of_own = LogMomentsOf(own);
  if (!of_own.can_be_weighed() || !LogMomentsOf(other).can_be_weighed()) return own;
  const double share = kUnknownDeviation / of_own.deviation;
  return Weighed(own, of_own, other, std::max(0.0, 1 - share * share));
}

Draws LeftByPace(const Draws& totals, double elapsed, const PacedTotal& paced, const Draws& u) {
  const LogMoments otherwise = LogMomentsOf(totals);
  const double deviation = std::max(otherwise.deviation, kDeviationMin);
  const double of_pace = std::max(paced.deviation, kDeviationMin);
  const double weight = deviation * deviation / (deviation * deviation + of_pace * of_pace);
  const double log = (1 - weight) * otherwise.median + weight * std::log(paced.seconds);
  Draws left;
  left.reserve(u.size());
  for (const double place : u) {
    left.push_back(LogNormalLeft(log, std::sqrt(1 - weight) * deviation, elapsed, place));
  }
  return left;
}

void LogLine::Add(std::optional<double> size, double seconds) {
  Pair& pair = pairs_.emplace_back();
  if (size) pair.log_size = std::log(*size);
  pair.log_seconds = std::log(seconds);
}

LogLine::Estimate LogLine::At(std::optional<double> size) const {
  const auto count = static_cast<double>(pairs_.size());
  double log_seconds = 0;
  double log_size = 0;
  double sized = 0;
  for (const Pair& pair : pairs_) {
    log_seconds += pair.log_seconds / count;
    if (!pair.log_size) continue;
    log_size += *pair.log_size;
    sized += 1;
  }
  if (sized > 0) log_size /= sized;
  const auto away = [&](const Pair& pair) { return pair.log_size ? *pair.log_size - log_size : 0; };
  const double variance = scatter_ * scatter_;
  double precision = 1 / (slope_deviation_ * slope_deviation_);
  double slope = precision * slope_;
  for (const Pair& pair : pairs_) {
    precision += away(pair) * away(pair) / variance;
    slope += away(pair) * (pair.log_seconds - log_seconds) / variance;
  }
  slope /= precision;
  double squares = 0;
  for (const Pair& pair : pairs_) {
    const double off = pair.log_seconds - log_seconds - slope * away(pair);
    squares += off * off;
  }
  const double seen = (kPriorCount * variance + squares) / (kPriorCount + count - 1);
  const double at = size && sized > 0 ? std::log(*size) - log_size : 0;
  return {.log = log_seconds + slope * at,
          .deviation = std::sqrt(seen * (1 + 1 / count) + at * at / precision),
          .slope = slope};
}

}  // namespace tidemark::durations
