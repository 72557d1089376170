// Durations as people say them.
#pragma once

#include <string>

#include "absl/time/time.h"

namespace tidemark::text {

// Longer than any job; of more only that is said.
inline constexpr absl::Duration kLongestSaid = absl::Hours(999 * 24);

// The two largest units, cut to whole ones: "41 s", "3 min 20 s", "2 h 05 min", "3 d 04 h"; a
// second unit of zero is left out. Negative: "0 s". Beyond kLongestSaid: "over 999 d".
std::string DurationText(absl::Duration duration);

// The same, but to the tenth of a second below ten: "0.6 s".
std::string ElapsedText(absl::Duration elapsed);

}  // namespace tidemark::text
