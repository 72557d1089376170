// A histogram of key groups by size in logarithmic bins, with the moments of their times.
//
// Bin b contains the sizes z with floor(6 log2(max(1, z))) = b. With six bins per octave, sizes
// within a bin differ by at most 12 %. 384 bins cover all 64-bit sizes. The index of a bin is also
// the index on the wire (ReduceProfile.bin_indexes).
//
// Add takes O(1) time. Memory: O(bins between the smallest and the largest size), at most 384 bins
// of 48 bytes. Sums saturate instead of wrapping. Not thread-safe. Sources:
// docs/internals/references.md [TM] for the binned moments; [NF] 5.3 for the sizes of implicit
// keys.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/event.h"

namespace tidemark::streaming {

inline constexpr std::uint32_t kBinsPerOctave = 6;
inline constexpr std::uint32_t kSizeBins = 384;

// Returns the bin of a size, which is 0 for 0 and 1 bytes.
std::uint32_t SizeBin(std::uint64_t size_bytes);

class SizeHistogram {
 public:
  // Adds `count` key groups of `size_bytes` each, which took `total_time` and emitted
  // `emitted_bytes` in total. The squares are computed from the mean time.
  void Add(std::uint64_t size_bytes, std::uint64_t count, absl::Duration total_time,
           std::uint64_t emitted_bytes = 0);
  // Adds the moments of a bin. Ignores an invalid bin index, and moments that are negative or not
  // finite.
  void Add(const GroupBin& bin);
  void Merge(const SizeHistogram& other);
  // Subtracts sizes (but not times) of key groups that are counted elsewhere. Never goes below
  // zero.
  void RemoveSizes(std::uint64_t size_bytes, std::uint64_t count);

  // Returns the bins with a count above zero, in ascending order of size.
  std::vector<GroupBin> bins() const;
  std::uint64_t count() const;
  std::uint64_t size_bytes() const;
  bool empty() const { return count() == 0; }
  void Clear();

 private:
  GroupBin& At(std::uint32_t bin);

  std::vector<GroupBin> bins_;  // consecutive bins, from the first to the last in use
};

}  // namespace tidemark::streaming
