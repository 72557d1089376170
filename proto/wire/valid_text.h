// Makes text valid for proto3 strings, which must be UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace tidemark::wire {

// Returns the text with '?' in place of each byte that is not part of a UTF-8 character. Because of
// such a byte, the receiver would reject the whole message and end the stream.
std::string ValidText(std::string_view text);

// Returns true if the text has control characters: U+0000 to U+001F, or U+007F to U+009F.
// An id with such characters could change a terminal, a script or a log that contains it.
bool HasControls(std::string_view text);

}  // namespace tidemark::wire
