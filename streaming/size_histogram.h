// How many key groups of which size, with the moments of their times, in logarithmic bins.
//
// Bin b holds the sizes z with floor(6 log2(max(1, z))) = b: six bins an octave, so sizes within a
// bin differ by at most 12 %. 384 bins cover every 64-bit size. This is the bin index on the wire
// (ReduceProfile.bin_indexes).
//
// Cost: Add O(1); memory O(bins between the smallest and the largest size), at most 384 of 48
// bytes. Sums saturate rather than wrap. Not thread-safe. Source: binned moments of
// docs/references.md [TM]; sizes of implicit keys, [NF] 5.3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/event.h"

namespace tidemark::streaming {

inline constexpr std::uint32_t kBinsPerOctave = 6;
inline constexpr std::uint32_t kSizeBins = 384;

// The bin of a size; 0 for 0 and 1 bytes.
std::uint32_t SizeBin(std::uint64_t size_bytes);

class SizeHistogram {
 public:
  // Adds `count` key groups of `size_bytes` each that took `total_time` and emitted `emitted_bytes`
  // together; the squares are those of their mean time.
  void Add(std::uint64_t size_bytes, std::uint64_t count, absl::Duration total_time,
           std::uint64_t emitted_bytes = 0);
  // Adds moments that were summed elsewhere. Ignores a bin beyond the last and moments that are not
  // finite or below zero.
  void Add(const GroupBin& bin);
  void Merge(const SizeHistogram& other);
  // Takes sizes (not times) away again, never below zero: for key groups that turn out to be
  // accounted for elsewhere.
  void RemoveSizes(std::uint64_t size_bytes, std::uint64_t count);

  // Bins with a count above zero, by increasing size.
  std::vector<GroupBin> bins() const;
  std::uint64_t count() const;
  std::uint64_t size_bytes() const;
  bool empty() const { return count() == 0; }
  void Clear();

 private:
  GroupBin& At(std::uint32_t bin);

  std::vector<GroupBin> bins_;  // one after the other, from the first to the last in use
};

}  // namespace tidemark::streaming
