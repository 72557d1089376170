// Ranges of durations as people say them, and how precisely one may say them. Pure.
#pragma once

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "text/duration_text.h"
#include "tidemark/job.h"

namespace tidemark::console {

using text::DurationText;
using text::ElapsedText;

// "35-52 s", "5-10 min", "2 min 50 s - 4 min 10 s", "up to 3 min", "35 s or more". The dash is an
// en dash with `unicode`.
std::string RangeText(absl::Duration lower, absl::Duration upper, bool unicode);

// Remaining time as precisely as it is known; 0 <= lower <= remaining <= upper.
struct KnownRemaining {
  absl::Duration remaining;
  absl::Duration lower;
  absl::Duration upper;
  bool has_range = false;
  friend bool operator==(const KnownRemaining&, const KnownRemaining&) = default;
};

// The largest of 1, 5, 10, 30 s, 1, 5, 10, 30 min, 1, 6 h, 1 d that is at most `precision`; at
// least 1 s.
absl::Duration RoundingStep(absl::Duration precision);

// Rounds each number to a step of at most a fifth of the interval's width and half of itself;
// without both bounds, of at most a tenth of `remaining`. The bounds are rounded outwards. Negative
// or contradictory arguments are put right.
KnownRemaining RoundToKnown(absl::Duration remaining, std::optional<absl::Duration> lower,
                            std::optional<absl::Duration> upper);

// Rounds an instant of a whole that has this much left, `within` from now, as RoundToKnown() would
// round a remaining time of that length with the interval of the whole. So the instants of its
// parts keep their order, and the last of them reads like the whole.
absl::Duration RoundedWithin(absl::Duration within, const Range& whole);

}  // namespace tidemark::console
