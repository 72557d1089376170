// Text for durations.
#pragma once

#include <string>

#include "absl/time/time.h"

namespace tidemark::text {

// Longer durations are shown as "over 999 d".
inline constexpr absl::Duration kLongestSaid = absl::Hours(999 * 24);

// Returns the two largest units, rounded down: "41 s", "3 min 20 s", "2 h 05 min", "3 d 04 h".
// Omits a second unit of zero. Negative durations are "0 s". Durations beyond kLongestSaid are
// "over 999 d".
std::string DurationText(absl::Duration duration);

// Returns the smallest unit of DurationText() for the duration: a second, a minute or an hour.
absl::Duration UnitOf(absl::Duration duration);

// Returns DurationText() of the duration rounded to the nearest UnitOf(): "1 h 13 min" for 1 h 12
// min 40 s.
std::string NearestText(absl::Duration duration);

// Returns NearestText(), with tenths of a second below ten seconds: "0.6 s".
std::string ElapsedText(absl::Duration elapsed);

}  // namespace tidemark::text
