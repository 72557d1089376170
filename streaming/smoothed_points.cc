#include "streaming/smoothed_points.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tidemark::streaming {
namespace {

bool BySizeThenTime(const GroupPoint& a, const GroupPoint& b) {
  return a.size_bytes != b.size_bytes ? a.size_bytes < b.size_bytes : a.mean_time() < b.mean_time();
}

// Returns true if the mean times differ by at most `tolerance`. The exact division of durations
// would be most of the cost of a point, so doubles are used unless the result is so close to the
// bound that rounding could change it. 64-bit nanoseconds cover 292 years.
bool IsClose(const GroupPoint& a, const GroupPoint& b, absl::Duration tolerance) {
  const auto a_total = static_cast<double>(absl::ToInt64Nanoseconds(a.total_time));
  const auto b_total = static_cast<double>(absl::ToInt64Nanoseconds(b.total_time));
  const auto a_count = static_cast<double>(a.count);
  const auto b_count = static_cast<double>(b.count);
  const auto most = static_cast<double>(absl::ToInt64Nanoseconds(tolerance));
  // Most key groups take less time than the tolerance.
  const double surely = most - 10;
  if (a_total < surely * a_count && b_total < surely * b_count) return true;
  const double a_mean = a_total / a_count;
  const double b_mean = b_total / b_count;
  const double beyond = std::abs(a_mean - b_mean) - most;
  if (std::abs(beyond) > 10 + 1e-12 * (a_mean + b_mean)) return beyond < 0;
  return absl::AbsDuration(a.mean_time() - b.mean_time()) <= tolerance;
}

// Returns the sum of counts and times, with the mean size over key groups.
GroupPoint Merged(const GroupPoint& a, const GroupPoint& b) {
  const double total = static_cast<double>(a.count) + static_cast<double>(b.count);
  const double shift =
      static_cast<double>(b.size_bytes - a.size_bytes) * (static_cast<double>(b.count) / total);
  return {a.size_bytes + static_cast<std::uint64_t>(shift), a.count + b.count,
          a.total_time + b.total_time};
}

}  // namespace

SmoothedPoints::SmoothedPoints(SmoothingOptions options) : options_(options) {
  options_.points_max = std::max<std::size_t>(options_.points_max, 2);
}

// Returns the index of the first point of that size, or the index where it belongs.
std::size_t SmoothedPoints::FirstOfSize(std::uint64_t size_bytes) const {
  // Reports are sorted, so it is often the next point.
  if (next_ < points_.size() && points_[next_].size_bytes == size_bytes &&
      (next_ == 0 || points_[next_ - 1].size_bytes < size_bytes)) {
    return next_;
  }
  const auto first =
      std::lower_bound(points_.begin(), points_.end(), size_bytes,
                       [](const GroupPoint& p, std::uint64_t size) { return p.size_bytes < size; });
  return static_cast<std::size_t>(first - points_.begin());
}

void SmoothedPoints::Add(const GroupPoint& point) {
  if (point.count == 0) return;
  GroupPoint added = point;
  added.total_time = std::max(added.total_time, absl::ZeroDuration());
  for (std::size_t at = FirstOfSize(added.size_bytes);
       at < points_.size() && points_[at].size_bytes == added.size_bytes; ++at) {
    if (!IsClose(points_[at], added, options_.time_tolerance)) continue;
    points_[at].count += added.count;
    points_[at].total_time += added.total_time;
    next_ = at + 1;
    return;
  }
  const auto inserted = points_.insert(
      std::upper_bound(points_.begin(), points_.end(), added, BySizeThenTime), added);
  next_ = static_cast<std::size_t>(inserted - points_.begin()) + 1;
  if (points_.size() > options_.points_max) Shrink();
}

// At least halves the number of points, so that the cost is amortised over later additions.
void SmoothedPoints::Shrink() {
  for (double closeness = 0.01; points_.size() > options_.points_max / 2; closeness *= 2) {
    std::vector<GroupPoint> kept;
    kept.reserve(points_.size());
    for (const GroupPoint& point : points_) {
      const bool close =
          !kept.empty() && static_cast<double>(point.size_bytes) <=
                               (1 + closeness) * static_cast<double>(kept.back().size_bytes);
      if (close) {
        kept.back() = Merged(kept.back(), point);
      } else {
        kept.push_back(point);
      }
    }
    points_ = std::move(kept);
  }
}

std::vector<GroupPoint> SmoothedPoints::Take() { return std::exchange(points_, {}); }

}  // namespace tidemark::streaming
