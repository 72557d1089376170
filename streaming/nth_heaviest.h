// The n-th largest of many counts, without sorting them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tidemark::streaming {

struct NthCount {
  std::uint64_t count = 0;
  std::size_t heavier = 0;  // how many counts are above it
  friend bool operator==(const NthCount&, const NthCount&) = default;
};

// Number `n` of `counts` in falling order, from 0; n < counts.size(). `least` is not above any of
// them; the closer it is, the faster. O(counts).
NthCount NthHeaviest(std::span<const std::uint64_t> counts, std::size_t n, std::uint64_t least);

}  // namespace tidemark::streaming
