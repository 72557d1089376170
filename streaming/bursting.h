// Times many short reduce function calls with few clock readings ([NF] section 6, bursting).
//
// A key group below `threshold_bytes` is not timed alone. It joins the current burst, which ends
// after `groups_max` key groups or when a larger key group starts. The time of a burst is split
// over its key groups in proportion to their sizes. An empty key group counts as one byte.
//
// This class splits the time and owns no clock. The caller measures the burst, and closes it before
// a large key group, so that no small key group is charged for a large one.
//
// Cost: AddSmall O(1); Close O(groups in the burst). Memory: groups_max sizes. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/event.h"

namespace tidemark::streaming {

struct BurstOptions {
  std::uint64_t threshold_bytes = 50;  // [NF] section 6
  std::uint32_t groups_max = 100;      // [NF] section 6
};

class Burst {
 public:
  explicit Burst(BurstOptions options = {});

  bool IsSmall(std::uint64_t size_bytes) const { return size_bytes < options_.threshold_bytes; }
  // Adds a small key group. Returns true if the burst is full and must be closed.
  bool AddSmall(std::uint64_t size_bytes);
  bool empty() const { return sizes_bytes_.empty(); }
  std::size_t size() const { return sizes_bytes_.size(); }
  // Ends the burst. Returns one point of count 1 for each key group, in order. Their times add up
  // to `elapsed`, within a nanosecond each. A negative time counts as zero.
  std::vector<GroupPoint> Close(absl::Duration elapsed);

 private:
  BurstOptions options_;
  std::vector<std::uint64_t> sizes_bytes_;
};

}  // namespace tidemark::streaming
