// JSON in ASCII, which a terminal shows unchanged.
#pragma once

#include <string>

namespace tidemark::text {

// Returns the same value with each character beyond ASCII as its escape. Escaping all of them
// avoids a table of invisible characters and of characters that change the direction of text.
// `json` is JSON; a byte outside any UTF-8 character becomes U+FFFD. O(size).
std::string AsciiJson(std::string json);

// Returns `text` as a JSON string in ASCII, with its quotes. U+FFFD replaces bytes that are not
// part of a UTF-8 character. O(size).
std::string QuotedJson(const std::string& text);

}  // namespace tidemark::text
