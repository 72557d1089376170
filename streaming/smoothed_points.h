// Smooths the data points D_i(t) of a reduce task ([NF] section 6, smoothing). Key groups of equal
// size whose mean times differ by at most 500 ms become one point.
//
// The class keeps at most `points_max` points. If there are more, it merges neighbours in size
// (within 1 %, then 2 %, 4 %, ... until they fit). Counts and times stay exact; the merged size is
// the count-weighted mean. Add takes O(1) time for known sizes in ascending order. Otherwise it
// takes O(log n) time to search n points, and at most O(n) to insert one. Merging takes amortised
// O(1) time. Not thread-safe. Deterministic for a given order of additions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/event.h"

namespace tidemark::streaming {

struct SmoothingOptions {
  absl::Duration time_tolerance = absl::Milliseconds(500);
  std::size_t points_max = 8192;
};

class SmoothedPoints {
 public:
  explicit SmoothedPoints(SmoothingOptions options = {});

  // Ignores a count of zero. A negative time counts as zero.
  void Add(const GroupPoint& point);

  // Returns the points in ascending order of size, then time.
  std::span<const GroupPoint> points() const { return points_; }
  bool empty() const { return points_.empty(); }
  // Removes and returns all points, for a flush.
  std::vector<GroupPoint> Take();

 private:
  std::size_t FirstOfSize(std::uint64_t size_bytes) const;
  void Shrink();

  SmoothingOptions options_;
  std::vector<GroupPoint> points_;
  std::size_t next_ = 0;  // index after the last changed point
};

}  // namespace tidemark::streaming
