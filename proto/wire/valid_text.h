// Makes text valid for proto3 strings, which must be UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace tidemark::wire {

// Returns the text with '?' in place of each byte that is not part of a UTF-8 character. Because of
// such a byte, the receiver would reject the whole message and end the stream.
std::string ValidText(std::string_view text);

}  // namespace tidemark::wire
