#include <algorithm>
#include <bit>
#include <cstdint>

#include "tidemark/job.h"

namespace tidemark {
namespace {

// Chosen by hand: rounding moves a prediction by at most 1.6 %, less than the error of any of ours.
constexpr std::uint64_t kSteps = 32;
constexpr absl::Duration kRoundedMax = absl::Hours(100 * 365 * 24);

// The step depends on the number alone: with a step that depends on the interval, the end of one
// part moves past the start of the next.
absl::Duration OnGrid(absl::Time at, absl::Duration left) {
  if (left <= absl::ZeroDuration()) return absl::ZeroDuration();
  const std::uint64_t part = static_cast<std::uint64_t>(absl::ToInt64Nanoseconds(left)) / kSteps;
  const absl::Duration step = absl::Nanoseconds(
      static_cast<std::int64_t>(std::max<std::uint64_t>(std::bit_floor(part), 1)));
  const absl::Duration since_epoch = at - absl::UnixEpoch();
  const absl::Duration on_grid = absl::Floor(since_epoch + left + step / 2, step) - since_epoch;
  return std::max(on_grid, absl::ZeroDuration());
}

}  // namespace

Range RoundedPrediction(absl::Time at, const Range& range) {
  const absl::Duration lower = range.lower.value_or(range.median);
  const absl::Duration upper = range.upper.value_or(range.median);
  if (std::max({range.median, lower, upper}) > kRoundedMax) return range;
  Range result = {.median = OnGrid(at, range.median)};
  if (range.lower) result.lower = std::min(OnGrid(at, lower), result.median);
  if (range.upper) result.upper = std::max(OnGrid(at, upper), result.median);
  return result;
}

}  // namespace tidemark
