#include "master/forecast/durations/opinions.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "master/forecast/durations/normal.h"

namespace tidemark::cost {
namespace {

// On a log scale, this part of the median stands for what reaches down to now. Taste.
constexpr double kLowestShare = 0.05;

struct LogMoments {
  double median = 0;
  double deviation = 0;

  // One that says now has no logarithm, nor any spread that could be weighed.
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

// Of the log of a task's time by its own pace, and by anything else, at least: a tenth. Taste.
constexpr double kDeviationMin = 0.1;

}  // namespace

Draws LogNormal(double log_median, double deviation, Opinion whose, const FixedDraws& draws) {
  Draws seconds = draws.Normals(Drawn::kOpinion, static_cast<std::uint64_t>(whose));
  for (double& time : seconds) time = std::exp(log_median + deviation * time);
  return seconds;
}

Draws Combine(const Draws& own, const Draws& other, double weight_in_doubt) {
  const LogMoments of_own = LogMomentsOf(own);
  const LogMoments of_other = LogMomentsOf(other);
  const double own_variance = of_own.deviation * of_own.deviation;
  const double variance = own_variance + of_other.deviation * of_other.deviation;
  const double off = of_other.median - of_own.median;
  if (!of_own.can_be_weighed() || !of_other.can_be_weighed()) return own;
  const double weight = Contradict(off, variance) ? weight_in_doubt : own_variance / variance;
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

}  // namespace tidemark::cost
