// Text for deadlines, forecast ends by the clock, and the probability of being late. Pure. The text
// is Printable() and ASCII.
#pragma once

#include <optional>
#include <string>

#include "console/duration_text.h"
#include "console/text.h"
#include "tidemark/job.h"

namespace tidemark::console {

// Returns "07:30", or "Nov 26 07:30" if the day differs from that of `now`. Within an hour of
// `now`, the text has seconds, "07:30:20", unless the time is a whole minute.
std::string ClockText(absl::Time at, absl::Time now, const TextOptions& options);

// Returns the precision of the times of day for `known`: a minute if the median is shown in whole
// minutes or the interval is wide, otherwise a second.
absl::Duration ClockStep(const KnownRemaining& known);

// Returns the forecast end, as precise as the shown remaining time. Returns nullopt if the job has
// ended, has no forecast, or its upper bound is more than three times the median.
std::optional<absl::Time> ForecastEnd(const Snapshot& snapshot);

// Returns "ends about 07:12", to the minute, or an empty string if ForecastEnd() is missing or less
// than five minutes away.
std::string EndClockText(const Snapshot& snapshot, const TextOptions& options);

// Text before and after the time of a deadline: "due " and ", 83 % likely late". Both are empty if
// there is no deadline.
struct DeadlineWords {
  std::string before;
  std::string after;
};
DeadlineWords DescribeDeadline(const Snapshot& snapshot);

// Returns the text including the time: "due 07:30, 83 % likely late", "was due 07:30", "12 min late
// (due 07:30)". Returns "" if there is no deadline.
std::string DeadlineText(const Snapshot& snapshot, const TextOptions& options);

// Returns a probability as text: "83 %", "over 99 %".
std::string LikelihoodText(double late);

// Returns true if the job has missed its deadline, or probably will according to a forecast that is
// not a guess.
bool IsLikelyLate(const Snapshot& snapshot);

}  // namespace tidemark::console
