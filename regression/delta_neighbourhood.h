// Nearest-neighbour regression, which predicts the mean time of key groups of similar size.
//
//   f~(z) = sum of f over N(z) / |N(z)|,   N(z) = { k : |size_k - z| <= delta }        [NF] 3.5,
//   eq. 6
//
// Each merged point is weighted by its number of key groups. The paper gives no value of delta. In
// our study the error is flat between 0 and 64 bytes, and grows above 1 kB.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tidemark/event.h"

namespace tidemark::regression {

inline constexpr std::uint64_t kDefaultDeltaBytes = 16;

struct NeighbourhoodMean {
  double seconds = 0;  // f~(z)
  // standard deviation divided by mean, both of the point means; 0 for one point
  double relative_spread = 0;
  std::uint64_t groups = 0;  // |N(z)|
};

// An index of points for many queries. Construction takes O(n), and Find() takes O(log n + points
// in the neighbourhood). Memory is O(n). Immutable, safe to share.
class DeltaNeighbourhood {
 public:
  DeltaNeighbourhood() = default;
  // `points` are in ascending order of size, as SmoothedPoints returns them.
  explicit DeltaNeighbourhood(std::span<const GroupPoint> points,
                              std::uint64_t delta_bytes = kDefaultDeltaBytes);

  // Returns nullopt if no point is within delta of `size_bytes`.
  std::optional<NeighbourhoodMean> Find(std::uint64_t size_bytes) const;

 private:
  std::uint64_t delta_bytes_ = kDefaultDeltaBytes;
  std::vector<std::uint64_t> sizes_bytes_;
  std::vector<double> groups_;        // by index of `sizes_bytes_`
  std::vector<double> mean_seconds_;  // by index of `sizes_bytes_`
};

}  // namespace tidemark::regression
