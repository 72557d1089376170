// Text for ranges of durations, rounded to their precision. Pure.
#pragma once

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "text/duration_text.h"
#include "tidemark/job.h"

namespace tidemark::console {

using text::DurationText;
using text::ElapsedText;
using text::NearestText;

// Returns "35-52 s", "0-10 min", "2 min 50 s - 4 min 10 s" or "35 s or more". With `unicode` the
// dash is an en dash.
std::string RangeText(absl::Duration lower, absl::Duration upper, bool unicode);

// A remaining time, rounded to its precision. 0 <= lower <= remaining <= upper.
struct KnownRemaining {
  absl::Duration remaining;
  absl::Duration lower;
  absl::Duration upper;
  bool has_range = false;
  friend bool operator==(const KnownRemaining&, const KnownRemaining&) = default;
};

// Returns the largest of 1, 5, 10, 30 s, 1, 5, 10, 30 min, 1, 6 h, 1 d that is at most `precision`,
// and at least 1 s.
absl::Duration RoundingStep(absl::Duration precision);

// Rounds each number to a multiple of a step: the median to the nearest, the bounds outwards. The
// step is at most a fifth of the interval's width. For the median and the lower bound, it is also
// at most half of the number. The lower bound is rounded at least to the unit of that width, so
// that both bounds share it, unless half a unit or more would become zero. Bounds less than a
// second apart become the median. If a bound is missing, the step is at most a tenth of
// `remaining`. Negative or contradictory arguments are corrected.
KnownRemaining RoundToKnown(absl::Duration remaining, std::optional<absl::Duration> lower,
                            std::optional<absl::Duration> upper);

// Rounds `within`, the time from now to an event, to the precision of `whole`, the job's remaining
// time. Rounded times keep their order, and the last of them equals the end of the job.
absl::Duration RoundedWithin(absl::Duration within, const Range& whole);

}  // namespace tidemark::console
