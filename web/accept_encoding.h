// The header Accept-Encoding of HTTP (RFC 9110, 12.5.3). Pure.
#pragma once

#include <string_view>

namespace tidemark::web {

// Returns true if the header names gzip with a weight above 0. A header without gzip, also one
// with *, leaves the choice to the server, which then sends bytes as they are.
bool AcceptsGzip(std::string_view accept_encoding);

}  // namespace tidemark::web
