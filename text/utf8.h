// Characters of UTF-8 text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tidemark::text {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool is_valid = false;
};

// Returns the first character, or one invalid byte. Overlong forms, surrogates and code points
// above U+10FFFF are invalid (RFC 3629). REQUIRES: the text is not empty.
Character FirstCharacter(std::string_view text);

// Returns the longest prefix of whole characters that has at most `bytes_max` bytes.
std::string Cut(const std::string& text, std::size_t bytes_max);

}  // namespace tidemark::text
