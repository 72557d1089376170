#include "streaming/space_saving.h"

#include <fmt/format.h>

namespace tidemark::streaming {

bool HeavierFirst(const WatchedKey& a, const WatchedKey& b) {
  return a.count_bytes != b.count_bytes ? a.count_bytes > b.count_bytes : a.key < b.key;
}

absl::Status ValidateSpaceSavingCapacity(std::size_t capacity) {
  if (capacity >= 1 && capacity <= kSpaceSavingCapacityMax) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("space-saving capacity {}: must be 1 to {}", capacity, kSpaceSavingCapacityMax));
}

}  // namespace tidemark::streaming
