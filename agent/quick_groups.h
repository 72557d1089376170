// Key groups that are over so soon that a look at the clock for each would be a good part of what
// they cost: sixteen in a row that took less than 10 us each, alone, put those of up to twice their
// size into bursts, and a burst that took longer a key group ends that.
// tests/vectors/reduce_units.json holds this and the Java connector's QuickGroups to the same
// units.
//
// Not thread-safe. O(1).
#pragma once

#include <algorithm>
#include <cstdint>

namespace tidemark::agent {

class QuickGroups {
 public:
  // From which size on a key group is timed alone, given the burst threshold; a threshold of 0 asks
  // for all of them.
  std::uint64_t TimedAloneFrom(std::uint64_t threshold_bytes) const {
    return threshold_bytes == 0 ? 0 : std::max(threshold_bytes, below_bytes_);
  }

  void TookAlone(std::uint64_t size_bytes, std::int64_t nanos) {
    in_a_row_ = nanos < kQuickNanos ? in_a_row_ + 1 : 0;
    if (in_a_row_ < kInARow) return;
    below_bytes_ = std::max(below_bytes_, 2 * std::min(size_bytes, kSizeMaxBytes));
  }

  void TookTogether(std::uint32_t groups, std::int64_t nanos) {
    in_a_row_ = 0;
    if (nanos >= kQuickNanos * groups) below_bytes_ = 0;
  }

 private:
  static constexpr std::int64_t kQuickNanos = 10'000;
  static constexpr std::uint32_t kInARow = 16;
  // Beside a larger one, a look at the clock is nothing.
  static constexpr std::uint64_t kSizeMaxBytes = 2048;

  std::uint64_t below_bytes_ = 0;
  std::uint32_t in_a_row_ = 0;
};

}  // namespace tidemark::agent
