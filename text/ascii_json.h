// JSON in ASCII, which a terminal shows unchanged.
#pragma once

#include <string>

namespace tidemark::text {

// Returns `json` with each character beyond ASCII as an escape. Escaping every such character
// avoids a table of invisible characters and of characters that change the direction of text. A
// byte outside any UTF-8 character becomes U+FFFD. REQUIRES: `json` is valid JSON. O(size).
std::string AsciiJson(std::string json);

// Returns `text` as a JSON string in ASCII, with its quotes. U+FFFD replaces bytes that are not
// part of a UTF-8 character. O(size).
std::string QuotedJson(const std::string& text);

}  // namespace tidemark::text
