// Nearest-neighbour regression: the mean time of key groups of nearly the same size.
//
//   f~(z) = sum of f over N(z) / |N(z)|,   N(z) = { k : |size_k - z| <= delta }        [NF] 3.5,
//   eq. 6
//
// Every merged point counts with the number of its key groups. delta is in bytes; the paper gives
// no value; 16 B is flat within 0..64 B in our study, and more than 1 KB hurts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tidemark/event.h"

namespace tidemark::papers {

inline constexpr std::uint64_t kDefaultDeltaBytes = 16;

struct NeighbourhoodMean {
  double seconds = 0;          // f~(z)
  double relative_spread = 0;  // standard deviation over mean of the point means; 0 for one point
  std::uint64_t groups = 0;    // |N(z)|
};

// Points indexed for many queries. Building it O(n) from points sorted by size; Find O(log n +
// points in the neighbourhood); memory O(n). Immutable, safe to share.
class DeltaNeighbourhood {
 public:
  DeltaNeighbourhood() = default;
  // `points` by increasing size, as SmoothedPoints gives them.
  explicit DeltaNeighbourhood(std::span<const GroupPoint> points,
                              std::uint64_t delta_bytes = kDefaultDeltaBytes);

  // Empty when no point lies within delta of `size_bytes`.
  std::optional<NeighbourhoodMean> Find(std::uint64_t size_bytes) const;

 private:
  std::uint64_t delta_bytes_ = kDefaultDeltaBytes;
  std::vector<std::uint64_t> sizes_bytes_;
  std::vector<double> groups_;        // of the point at the same index
  std::vector<double> mean_seconds_;  // likewise
};

}  // namespace tidemark::papers
