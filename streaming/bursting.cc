#include "streaming/bursting.h"

#include <algorithm>

namespace tidemark::streaming {

Burst::Burst(BurstOptions options) : options_(options) {
  options_.groups_max = std::max<std::uint32_t>(options_.groups_max, 1);
}

bool Burst::AddSmall(std::uint64_t size_bytes) {
  sizes_bytes_.push_back(size_bytes);
  return sizes_bytes_.size() >= options_.groups_max;
}

std::vector<GroupPoint> Burst::Close(absl::Duration elapsed) {
  const double nanos = std::max(0.0, absl::ToDoubleNanoseconds(elapsed));
  double weight_total = 0;
  for (const std::uint64_t size : sizes_bytes_) {
    weight_total += static_cast<double>(std::max<std::uint64_t>(size, 1));
  }
  std::vector<GroupPoint> points;
  points.reserve(sizes_bytes_.size());
  for (const std::uint64_t size : sizes_bytes_) {
    const double share = static_cast<double>(std::max<std::uint64_t>(size, 1)) / weight_total;
    points.push_back({size, 1, absl::Nanoseconds(nanos * share)});
  }
  sizes_bytes_.clear();
  return points;
}

}  // namespace tidemark::streaming
