// The key group that took longest of those that a report times by themselves. Pure.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "tidemark/event.h"

namespace tidemark::blame {

struct LongestGroup {
  std::uint64_t size_bytes = 0;
  absl::Duration time;  // zero: none was timed by itself
  friend bool operator==(const LongestGroup&, const LongestGroup&) = default;
};

// A time that is not finite, or negative, is left out. O(points + finished keys).
LongestGroup LongestGroupOf(const ReduceProfile& profile);

}  // namespace tidemark::blame
