#include "regression/delta_neighbourhood.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tidemark::regression {

DeltaNeighbourhood::DeltaNeighbourhood(std::span<const GroupPoint> points,
                                       std::uint64_t delta_bytes)
    : delta_bytes_(delta_bytes) {
  for (const GroupPoint& point : points) {
    const double mean = absl::ToDoubleSeconds(point.mean_time());
    if (point.count == 0 || !std::isfinite(mean) || mean < 0) continue;
    sizes_bytes_.push_back(point.size_bytes);
    groups_.push_back(static_cast<double>(point.count));
    mean_seconds_.push_back(mean);
  }
}

std::optional<NeighbourhoodMean> DeltaNeighbourhood::Find(std::uint64_t size_bytes) const {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t least = size_bytes > delta_bytes_ ? size_bytes - delta_bytes_ : 0;
  const std::uint64_t most = size_bytes > kMost - delta_bytes_ ? kMost : size_bytes + delta_bytes_;
  const auto first = std::lower_bound(sizes_bytes_.begin(), sizes_bytes_.end(), least);
  const auto last = std::upper_bound(first, sizes_bytes_.end(), most);
  if (first == last) return std::nullopt;
  const auto to = static_cast<std::size_t>(last - sizes_bytes_.begin());
  double groups = 0;
  double mean = 0;
  double squares = 0;  // sum of squared deviations from the mean
  for (auto i = static_cast<std::size_t>(first - sizes_bytes_.begin()); i < to; ++i) {
    groups += groups_[i];
    const double deviation = mean_seconds_[i] - mean;
    mean += deviation * (groups_[i] / groups);
    squares += groups_[i] * deviation * (mean_seconds_[i] - mean);
  }
  const double spread = std::sqrt(std::max(0.0, squares / groups));
  return NeighbourhoodMean{.seconds = mean,
                           .relative_spread = mean > 0 ? spread / mean : 0,
                           .groups = static_cast<std::uint64_t>(std::min(groups, 1.8e19))};
}

}  // namespace tidemark::regression
