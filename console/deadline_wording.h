// When a job is due, when it will end by the clock on the wall, and how likely it is late, in
// words. Pure; Printable() and ASCII.
#pragma once

#include <optional>
#include <string>

#include "console/duration_text.h"
#include "console/styled_line.h"
#include "tidemark/job.h"

namespace tidemark::console {

// "07:30"; less than an hour from `now`, as far as DurationText() has seconds, "07:30:20" unless it
// is on the minute; on another day than `now` "Nov 26 07:30".
std::string ClockText(absl::Time at, absl::Time now, const TextOptions& options);

// `left`, one of the numbers of `known`, after `now`; on the minute where the median has no
// seconds.
absl::Time EndAfter(absl::Duration left, const KnownRemaining& known, absl::Time now);

// When it ends, as precisely as the time left is said. Empty where no end is predicted, or its
// upper bound is several times as far off, and of a job that has ended.
std::optional<absl::Time> ExpectedEnd(const Snapshot& snapshot);

// "ends about 07:12", to the minute; empty where ExpectedEnd() is, and of one so soon that the time
// left says it.
std::string EndClockText(const Snapshot& snapshot, const TextOptions& options);

// What is said around the instant that a job is due, which ClockText() has: "due ", 07:30, ", 83 %
// likely late". Without a deadline both are empty.
struct DeadlineWords {
  std::string before;
  std::string after;
};
DeadlineWords DescribeDeadline(const Snapshot& snapshot);

// The same with the instant: "due 07:30, 83 % likely late", "was due 07:30", "12 min late (due
// 07:30)"; empty without a deadline.
std::string DeadlineText(const Snapshot& snapshot, const TextOptions& options);

// "83 %", "over 99 %"
std::string LikelihoodText(double late);

// Whether it is more likely late than not, by more than a guess, or has missed its deadline.
bool IsLikelyLate(const Snapshot& snapshot);

}  // namespace tidemark::console
