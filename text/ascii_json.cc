#include "text/ascii_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tidemark::text {
namespace {

bool IsAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }

// Returns true for a character that a JSON string contains unescaped.
bool IsPlain(char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; }

// Returns `text` with JSON escapes, without quotes.
std::string Escaped(const std::string& text) {
  const std::string quoted = QuotedJson(text);
  return quoted.substr(1, quoted.size() - 2);
}

}  // namespace

std::string AsciiJson(std::string json) {
  std::string ascii;
  for (auto at = json.begin();;) {
    const auto beyond = std::find_if_not(at, json.end(), IsAscii);
    if (beyond == json.end() && ascii.empty()) return json;
    ascii.append(at, beyond);
    if (beyond == json.end()) return ascii;
    at = std::find_if(beyond, json.end(), IsAscii);
    ascii += Escaped(std::string(beyond, at));
  }
}

std::string QuotedJson(const std::string& text) {
  if (std::all_of(text.begin(), text.end(), IsPlain)) return '"' + text + '"';
  return nlohmann::json(text).dump(-1, ' ', /*ensure_ascii=*/true,
                                   nlohmann::json::error_handler_t::replace);
}

}  // namespace tidemark::text
