#include "spark/tolerant_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "proto/wire/valid_text.h"

namespace tidemark::spark {

using nlohmann::json;

namespace {

// Java may write half of a character, of which no text can be made.
std::string WithoutSurrogates(std::string text) {
  for (std::size_t at = 0; (at = text.find('\\', at)) != std::string::npos;) {
    const bool is_surrogate = text.size() >= at + 6 && text[at + 1] == 'u' &&
                              (text[at + 2] == 'd' || text[at + 2] == 'D') && text[at + 3] >= '8';
    if (is_surrogate) {
      text.replace(at, 6, "?");
    } else {
      at += 2;
    }
  }
  return text;
}

}  // namespace

json TolerantJson(std::string_view text) {
  // Most events: no other text of Spark's takes a copy.
  if (std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20; })) {
    json event = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!event.is_discarded()) return event;
  }
  std::string valid = wire::ValidText(text);
  std::replace_if(
      valid.begin(), valid.end(), [](char c) { return c >= 0 && c < 0x20; }, ' ');
  json event = json::parse(valid, nullptr, /*allow_exceptions=*/false);
  if (!event.is_discarded()) return event;
  return json::parse(WithoutSurrogates(std::move(valid)), nullptr, /*allow_exceptions=*/false);
}

}  // namespace tidemark::spark
