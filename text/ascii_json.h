// JSON in ASCII, which a terminal shows unchanged.
#pragma once

#include <string>

namespace tidemark::text {

// Returns `json` with each non-ASCII character escaped. Escaping all of them avoids a table of
// invisible characters and of characters that change the direction of text. A byte outside any
// UTF-8 character becomes U+FFFD. REQUIRES: `json` is valid JSON. O(size).
std::string AsciiJson(std::string json);

// Returns `text` as a quoted JSON string in ASCII. U+FFFD replaces bytes that are not part of a
// UTF-8 character. O(size).
std::string QuotedJson(const std::string& text);

}  // namespace tidemark::text
