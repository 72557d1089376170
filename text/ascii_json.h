// JSON that a terminal shows as it is.
#pragma once

#include <string>

namespace tidemark::text {

// The same value with each character beyond ASCII as its escape, which needs no table of those that
// turn the direction of a line or hide in it. `json` is JSON; of a byte that is no part of a UTF-8
// character U+FFFD is made. O(size).
std::string AsciiJson(std::string json);

}  // namespace tidemark::text
