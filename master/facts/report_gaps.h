// How often a job's tasks are reported on, learnt from when their reports came.
//
// An agent reports on a running task at every flush interval, whether or not anything changed. The
// master does not ask each source for its interval; the gaps between the arrivals of one attempt's
// reports show it. Counted are the last 32 of all attempts. A gap shorter than any flush interval
// lies within one report, or within what was sent again after a break; a longer one than any is an
// outage, and counts as the longest interval.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "absl/time/time.h"

namespace tidemark::model {

class ReportGaps {
 public:
  // Of a running attempt: since the last that was heard of it.
  void Observe(absl::Duration gap);

  // The median of the gaps; nothing until there are four. O(1).
  std::optional<absl::Duration> typical() const;

 private:
  static constexpr std::size_t kKept = 32;
  std::array<absl::Duration, kKept> last_{};
  std::size_t observed_ = 0;
};

}  // namespace tidemark::model
