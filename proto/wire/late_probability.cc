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

double Tail(double falls, double half_widths) {
  return std::exp(-falls * std::pow(half_widths, kPeak));
}

double Late(double lower, double median, double upper, double left) {
  constexpr double kAll = std::numeric_limits<double>::infinity();
  if (left <= median) {
    const double below = left == median ? 0 : (median - left) / (median - lower);
    return 1 - (1 - kLateAtMedian) * Tail(kFallsBelow, below);
  }
  const double above = upper <= median ? kAll
                       : median <= 0   ? left / upper
                                       : std::log(left / median) / std::log(upper / median);
  return kLateAtMedian * Tail(kFallsAbove, above);
}

}  // namespace

std::optional<double> LateProbability(const Range& remaining, absl::Duration left) {
  if (left <= absl::ZeroDuration()) return 1;
  if (!remaining.lower || !remaining.upper) return std::nullopt;
  const double lower = absl::ToDoubleSeconds(*remaining.lower);
  const double median = absl::ToDoubleSeconds(remaining.median);
  const double upper = absl::ToDoubleSeconds(*remaining.upper);
  const bool is_range = 0 <= lower && lower <= median && median <= upper && std::isfinite(upper);
  if (!is_range) return std::nullopt;
  return std::clamp(Late(lower, median, upper, absl::ToDoubleSeconds(left)), 1 - kSurely, kSurely);
}

std::optional<double> LateProbability(const Snapshot& snapshot, absl::Time deadline) {
  if (snapshot.is_final) {
    if (snapshot.state != JobState::kSucceeded || !snapshot.ended_at) return std::nullopt;
    return *snapshot.ended_at > deadline ? 1 : 0;
  }
  if (snapshot.at >= deadline) return 1;
  if (!snapshot.estimate.remaining) return std::nullopt;
  return LateProbability(*snapshot.estimate.remaining, deadline - snapshot.at);
}

}  // namespace tidemark
