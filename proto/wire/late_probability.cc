#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "tidemark/job.h"

namespace tidemark {
namespace {

// Fitted to what became of 9 deadlines in each of the runs of suites stress and synthetic, train
// half (bench/accuracy/lateness.h). Ends are nearer to the median than a normal distribution with
// these bounds has them or much farther, and later rather than earlier.
constexpr double kLateAtMedian = 0.55;
constexpr double kFallsBelow = 3.8;
constexpr double kFallsAbove = 2;
constexpr double kPeak = 0.7;
constexpr double kSurely = 0.999;

// Standard deviations from the median to a bound of a 90 % interval.
constexpr double kDeviations = 1.6449;
// Now has no logarithm: this part of the median stands for a lower bound that reaches down to it,
// as far below as the widest interval goes above (kRemainingUpperMax).
constexpr double kLowestShare = 0.05;

constexpr double kAll = std::numeric_limits<double>::infinity();

// In seconds, finite. 0 <= lower <= median <= upper.
struct DeadlineBounds {
  double lower = 0;
  double median = 0;
  double upper = 0;
};

// How many half-widths `left` is above the median, by logarithms.
double HalfWidthsAbove(const DeadlineBounds& of, double left) {
  if (of.upper <= of.median) return kAll;
  if (of.median <= 0) return left / of.upper;
  return std::log(left / of.median) / std::log(of.upper / of.median);
}

// Returns the distance of `left`, which is above 0, below the median, in half-widths by logarithms.
// At most one, since the interval does not state how far below its lower bound an end may be.
double HalfWidthsBelow(const DeadlineBounds& of, double left) {
  const double lower = std::max(of.lower, kLowestShare * of.median);
  if (left >= of.median) return 0;
  if (left <= lower) return 1;
  return std::log(of.median / left) / std::log(of.median / lower);
}

double Tail(double falls, double half_widths) {
  return std::exp(-falls * std::pow(half_widths, kPeak));
}

double LateAsMeasured(const DeadlineBounds& of, double left) {
  if (left > of.median) return kLateAtMedian * Tail(kFallsAbove, HalfWidthsAbove(of, left));
  const double below = left == of.median ? 0 : (of.median - left) / (of.median - of.lower);
  return 1 - (1 - kLateAtMedian) * Tail(kFallsBelow, below);
}

double NormalCdf(double deviations) { return std::erfc(-deviations / std::sqrt(2)) / 2; }

double LateAsSaid(const DeadlineBounds& of, double left) {
  return NormalCdf(left > of.median ? -kDeviations * HalfWidthsAbove(of, left)
                                    : kDeviations * HalfWidthsBelow(of, left));
}

// The part of what remains that the run itself tells about.
double ShareOfThisRun(const Estimate& estimate) {
  if (estimate.basis != Basis::kThisRun || !(estimate.known_share > 0)) return 0;
  return std::min(estimate.known_share, 1.0);
}

}  // namespace

std::optional<double> LateProbability(const Estimate& estimate, absl::Duration left) {
  if (left <= absl::ZeroDuration()) return 1;
  const auto& remaining = estimate.remaining;
  if (!remaining || !remaining->lower || !remaining->upper) return std::nullopt;
  const DeadlineBounds bounds = {.lower = absl::ToDoubleSeconds(*remaining->lower),
                                 .median = absl::ToDoubleSeconds(remaining->median),
                                 .upper = absl::ToDoubleSeconds(*remaining->upper)};
  const bool is_range = 0 <= bounds.lower && bounds.lower <= bounds.median &&
                        bounds.median <= bounds.upper && std::isfinite(bounds.upper);
  if (!is_range) return std::nullopt;
  const double seconds = absl::ToDoubleSeconds(left);
  const double late = std::lerp(LateAsSaid(bounds, seconds), LateAsMeasured(bounds, seconds),
                                ShareOfThisRun(estimate));
  return std::clamp(late, 1 - kSurely, kSurely);
}

std::optional<double> LateProbability(const Snapshot& snapshot, absl::Time deadline) {
  if (snapshot.is_final) {
    if (snapshot.state != JobState::kSucceeded || !snapshot.ended_at) return std::nullopt;
    return *snapshot.ended_at > deadline ? 1 : 0;
  }
  return LateProbability(snapshot.estimate, deadline - snapshot.at);
}

}  // namespace tidemark
