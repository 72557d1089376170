#include "streaming/bursting.h"

#include <algorithm>

namespace tidemark::streaming {

std::vector<GroupPoint> SplitBurst(const std::vector<std::uint64_t>& sizes_bytes,
                                   absl::Duration elapsed) {
  const double nanos = std::max(0.0, absl::ToDoubleNanoseconds(elapsed));
  double weight_total = 0;
  for (const std::uint64_t size : sizes_bytes) {
    weight_total += static_cast<double>(std::max<std::uint64_t>(size, 1));
  }
  std::vector<GroupPoint> points;
  points.reserve(sizes_bytes.size());
  for (const std::uint64_t size : sizes_bytes) {
    const double share = static_cast<double>(std::max<std::uint64_t>(size, 1)) / weight_total;
    points.push_back({size, 1, absl::Nanoseconds(nanos * share)});
  }
  return points;
}

}  // namespace tidemark::streaming
