// Text for proto3 strings, which must be valid UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace tidemark::wire {

// Returns the text with '?' for each byte that is not part of a UTF-8 character. Such a byte would
// make the receiver reject the whole message and end the stream.
std::string ValidText(std::string_view text);

}  // namespace tidemark::wire
