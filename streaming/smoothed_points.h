// The data points D_i(t) of a reduce task, smoothed: key groups of one size whose mean times differ
// by at most 500 ms become one point ([NF] section 6, smoothing).
//
// At most `points_max` points are kept. When there are more, neighbours in size are merged (sizes
// within 1 %, then 2 %, 4 %, ... until it fits): counts and times stay exact, the merged size is
// the count-weighted mean. Cost: Add O(log n) search, O(1) for sizes that are known and come in
// order, and O(n) worst-case insertion into a flat array; the merge is amortised O(1). Not
// thread-safe. Deterministic in the order of Add().
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

  // Ignores a count of zero; a negative time counts as zero.
  void Add(const GroupPoint& point);
  void Merge(const SmoothedPoints& other);

  // By increasing size, then time.
  std::span<const GroupPoint> points() const { return points_; }
  std::uint64_t group_count() const { return group_count_; }
  bool empty() const { return points_.empty(); }
  // Empties it and returns what it held: what an agent sends at a flush.
  std::vector<GroupPoint> Take();

 private:
  std::size_t FirstOfSize(std::uint64_t size_bytes) const;
  void Shrink();

  SmoothingOptions options_;
  std::vector<GroupPoint> points_;
  std::size_t next_ = 0;  // after the point that was touched last
  std::uint64_t group_count_ = 0;
};

}  // namespace tidemark::streaming
