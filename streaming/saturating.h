// Sums and differences of untrusted counts that saturate instead of wrapping.
#pragma once

#include <cstdint>
#include <limits>

namespace tidemark::streaming {

inline std::uint64_t SaturatingAdd(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sum = a + b;
  return sum < a ? std::numeric_limits<std::uint64_t>::max() : sum;
}

inline std::uint64_t SaturatingSubtract(std::uint64_t a, std::uint64_t b) {
  return a > b ? a - b : 0;
}

}  // namespace tidemark::streaming
