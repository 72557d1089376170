#include "text/utf8.h"

namespace tidemark::text {
namespace {

// Returns the length of a character, given its first byte, or 0 for an invalid first byte.
std::size_t LengthOf(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  if (first >= 0xF0 && first <= 0xF4) return 4;
  return 0;
}

bool IsWithinCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

}  // namespace

Character FirstCharacter(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t bytes = LengthOf(first);
  if (bytes == 0 || bytes > text.size()) return {};
  if (bytes == 1) return {.code = first, .bytes = 1, .is_valid = true};
  char32_t code = first & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!IsWithinCharacter(text[i])) return {};
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  const char32_t least = bytes == 4 ? 0x10000 : bytes == 3 ? 0x800 : 0x80;
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (is_surrogate || code > 0x10FFFF || code < least) return {};
  return {.code = code, .bytes = bytes, .is_valid = true};
}

std::string Cut(const std::string& text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && IsWithinCharacter(text[end])) --end;
  return text.substr(0, end);
}

}  // namespace tidemark::text
