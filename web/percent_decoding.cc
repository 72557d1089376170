#include "web/percent_decoding.h"

#include <charconv>
#include <utility>

#include "proto/wire/valid_text.h"

namespace tidemark::web {

std::optional<std::string> PercentDecoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    unsigned value = 0;
    const char* const begin = text.data() + i + 1;
    const auto [end, error] = std::from_chars(begin, begin + 2, value, 16);
    if (error != std::errc() || end != begin + 2) return std::nullopt;
    decoded += static_cast<char>(value);
    i += 2;
  }
  for (const char byte : decoded) {
    if (static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f) return std::nullopt;
  }
  if (wire::ValidText(decoded) != decoded) return std::nullopt;
  return decoded;
}

std::optional<std::vector<std::string>> PathParts(std::string_view path) {
  std::vector<std::string> parts;
  if (!path.starts_with('/')) return std::nullopt;
  path.remove_prefix(1);
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    std::optional<std::string> decoded = PercentDecoded(part);
    if (part.empty() || !decoded) return std::nullopt;
    parts.push_back(*std::move(decoded));
    path = slash == std::string_view::npos ? "" : path.substr(slash + 1);
  }
  return parts;
}

}  // namespace tidemark::web
