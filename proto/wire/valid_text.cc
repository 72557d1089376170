#include "proto/wire/valid_text.h"

#include <algorithm>
#include <utility>

#include "text/utf8.h"

namespace tidemark::wire {

std::string ValidText(std::string_view untrusted) {
  std::string valid;
  valid.reserve(untrusted.size());
  while (!untrusted.empty()) {
    const text::Character character = text::FirstCharacter(untrusted);
    valid += character.is_valid ? untrusted.substr(0, character.bytes) : "?";
    untrusted.remove_prefix(character.bytes);
  }
  return valid;
}

bool HasControls(std::string_view text) {
  unsigned char previous = 0;
  return std::ranges::any_of(text, [&previous](char each) {
    const auto byte = static_cast<unsigned char>(each);
    const bool is_upper = std::exchange(previous, byte) == 0xC2 && byte < 0xA0;  // U+0080 to U+009F
    return byte < 0x20 || byte == 0x7F || is_upper;
  });
}

}  // namespace tidemark::wire
