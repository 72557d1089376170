// Durations as text.
#pragma once

#include <string>

#include "absl/time/time.h"

namespace tidemark::text {

// Longer durations are shown as "over 999 d".
inline constexpr absl::Duration kLongestSaid = absl::Hours(999 * 24);

// Returns the two largest units, rounded down: "41 s", "3 min 20 s", "2 h 05 min", "3 d 04 h".
// Omits a second unit of zero. Negative durations are "0 s"; beyond kLongestSaid the text is "over
// 999 d".
std::string DurationText(absl::Duration duration);

// Returns DurationText(), with tenths of a second below ten seconds: "0.6 s".
std::string ElapsedText(absl::Duration elapsed);

}  // namespace tidemark::text
