// Corrects and interprets the times at which sources report.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "absl/time/time.h"
#include "tidemark/event.h"

namespace tidemark::facts {

// Maps times of a source's wall clock to times of the master's clock.
//
//   offset = min(arrival - sending) over the messages of the source
//
// The offset is the true difference of the clocks plus the latency of the fastest message. A time
// that a source reports is mapped by adding the offset. The result is never after the arrival of
// the event that reported the time, so a wrong clock cannot distort an estimate. An infinite time
// is mapped to the arrival.
//
// If the source's clock is set back or forward, the offset is learned again. Times that were read
// before a step forward keep their offset.
class ClockOffset {
 public:
  // Observes a message. Returns the step by which the source's clock has been set since the
  // previous message, which is negative if the clock was set back. Returns nullopt if the clock was
  // not set, or if the step is too small to distinguish from a slow message.
  std::optional<absl::Duration> Observe(absl::Time sent_at, absl::Time arrived_at);

  absl::Time ToMasterClock(absl::Time by_source, absl::Time arrived_at) const {
    const absl::Time at = by_source + (by_source <= before_until_ ? before_ : offset_);
    return at == absl::InfinitePast() ? arrived_at : std::min(at, arrived_at);
  }

 private:
  absl::Duration offset_ = absl::InfiniteDuration();
  absl::Time last_sent_at_ = absl::InfinitePast();
  absl::Time last_arrived_at_ = absl::InfinitePast();
  absl::Time learned_since_ = absl::InfiniteFuture();  // first arrival since the last step
  // Offset of the times that were read before the last step forward.
  absl::Duration before_ = absl::InfiniteDuration();
  absl::Time before_until_ = absl::InfinitePast();
};

// Estimates the interval between reports of running tasks from the gaps between reports.
//
// An agent reports each running task at every flush interval, even if nothing has changed. Sources
// do not report their interval, so it is estimated from the gaps of the last 32 reports. A gap
// shorter than any flush interval lies within one report or within resent events, and is ignored. A
// gap longer than any flush interval is an outage, and counts as the longest interval.
class ReportGaps {
 public:
  // Adds a gap. `gap` is the time since the previous report of the same running attempt.
  void Observe(absl::Duration gap);

  // Returns the median gap, or nullopt before the fourth gap. O(1).
  std::optional<absl::Duration> typical() const;

 private:
  static constexpr std::size_t kKept = 32;
  std::array<absl::Duration, kKept> last_{};
  std::size_t observed_ = 0;
};

// The longest run of a job. Durations are displayed up to this length.
inline constexpr absl::Duration kLongestRun = absl::Hours(999 * 24);

// Returns when the job was submitted, by the sender's clock. Returns nullopt if the time was not
// reported, or if it differs from `sent_at` by more than the longest run. Some senders report 0 for
// an unknown time.
std::optional<absl::Time> SubmittedAt(const JobOpened& opened, absl::Time sent_at);

}  // namespace tidemark::facts
