#include "tidemark/late_probability.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tidemark {
namespace {

// Standard deviations of a normal distribution from its median to the bounds of its 90 % interval.
constexpr double kDeviations = 1.6448536269514722;
constexpr double kSurely = 0.999;
// Lower bounds of a time in seconds, and of a half-width as a logarithm.
constexpr double kShortest = 1e-9;
constexpr double kNarrowest = 1e-6;

// Returns the probability of an end beyond a point on one side of the median, which is 0.05 at the
// bound. Inside the interval, a normal distribution is the less sure one, outside that of Laplace.
double Beyond(double half_widths) {
  return std::max(std::erfc(half_widths * kDeviations / std::numbers::sqrt2) / 2,
                  std::pow(10, -half_widths) / 2);
}

}  // namespace

std::optional<double> LateProbability(const Range& remaining, absl::Duration elapsed,
                                      absl::Duration left) {
  if (left <= absl::ZeroDuration()) return 1;
  if (!remaining.lower || !remaining.upper) return std::nullopt;
  const bool is_range =
      absl::ZeroDuration() <= *remaining.lower && *remaining.lower <= remaining.median &&
      remaining.median <= *remaining.upper && *remaining.upper < absl::InfiniteDuration();
  if (!is_range) return std::nullopt;
  const auto log_total = [&](absl::Duration after) {
    return std::log(std::max(absl::ToDoubleSeconds(elapsed + after), kShortest));
  };
  const double median = log_total(remaining.median);
  const double off = log_total(left) - median;
  const double bound = log_total(off > 0 ? *remaining.upper : *remaining.lower);
  const double half_widths = std::abs(off) / std::max(std::abs(bound - median), kNarrowest);
  const double beyond = Beyond(half_widths);
  return std::clamp(off > 0 ? beyond : 1 - beyond, 1 - kSurely, kSurely);
}

std::optional<double> LateProbability(const Snapshot& snapshot, absl::Time deadline) {
  if (snapshot.is_final) {
    if (snapshot.state != JobState::kSucceeded || !snapshot.ended_at) return std::nullopt;
    return *snapshot.ended_at > deadline ? 1 : 0;
  }
  const absl::Duration left = deadline - snapshot.at;
  if (left <= absl::ZeroDuration()) return 1;
  if (!snapshot.estimate.remaining) return std::nullopt;
  return LateProbability(*snapshot.estimate.remaining, snapshot.elapsed(), left);
}

}  // namespace tidemark
