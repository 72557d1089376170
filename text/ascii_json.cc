#include "text/ascii_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tidemark::text {
namespace {

bool IsAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }

// Of characters beyond ASCII.
std::string Escaped(const std::string& text) {
  const std::string quoted = nlohmann::json(text).dump(-1, ' ', /*ensure_ascii=*/true,
                                                       nlohmann::json::error_handler_t::replace);
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

}  // namespace tidemark::text
