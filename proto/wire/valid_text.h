// Text that a proto3 string may hold.
#pragma once

#include <string>
#include <string_view>

namespace tidemark::wire {

// The same text if it is UTF-8; otherwise every byte that is no part of a character becomes '?'.
// A single such byte would make the receiver refuse the whole message, and with it the stream.
std::string ValidText(std::string_view text);

}  // namespace tidemark::wire
