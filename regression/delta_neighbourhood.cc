#include "regression/delta_neighbourhood.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tidemark::regression {

DeltaNeighbourhood::DeltaNeighbourhood(std::span<const GroupPoint> points,
                                       std::uint64_t delta_bytes)
    : delta_bytes_(delta_bytes),
      cumulative_groups_{0},
      cumulative_seconds_{0},
      cumulative_seconds_squared_{0} {
  for (const GroupPoint& point : points) {
    const double groups = static_cast<double>(point.count);
    const double mean = absl::ToDoubleSeconds(point.mean_time());
    if (point.count == 0 || !std::isfinite(mean) || mean < 0) continue;
    sizes_bytes_.push_back(point.size_bytes);
    cumulative_groups_.push_back(cumulative_groups_.back() + groups);
    cumulative_seconds_.push_back(cumulative_seconds_.back() + groups * mean);
    cumulative_seconds_squared_.push_back(cumulative_seconds_squared_.back() +
                                          groups * mean * mean);
  }
}

std::optional<NeighbourhoodMean> DeltaNeighbourhood::Find(std::uint64_t size_bytes) const {
  const std::uint64_t least = size_bytes > delta_bytes_ ? size_bytes - delta_bytes_ : 0;
  const std::uint64_t most = size_bytes > std::numeric_limits<std::uint64_t>::max() - delta_bytes_
                                 ? std::numeric_limits<std::uint64_t>::max()
                                 : size_bytes + delta_bytes_;
  const auto first = std::lower_bound(sizes_bytes_.begin(), sizes_bytes_.end(), least);
  const auto last = std::upper_bound(first, sizes_bytes_.end(), most);
  if (first == last) return std::nullopt;
  const auto from = static_cast<std::size_t>(first - sizes_bytes_.begin());
  const auto to = static_cast<std::size_t>(last - sizes_bytes_.begin());
  const double groups = cumulative_groups_[to] - cumulative_groups_[from];
  const double mean = (cumulative_seconds_[to] - cumulative_seconds_[from]) / groups;
  const double mean_square =
      (cumulative_seconds_squared_[to] - cumulative_seconds_squared_[from]) / groups;
  // Differences of running sums may come out a little below zero.
  const double variance = std::max(0.0, mean_square - mean * mean);
  return NeighbourhoodMean{.seconds = std::max(0.0, mean),
                           .relative_spread = mean > 0 ? std::sqrt(variance) / mean : 0,
                           .groups = static_cast<std::uint64_t>(groups)};
}

}  // namespace tidemark::regression
