#include "spark/log_parser.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "proto/wire/valid_text.h"

namespace tidemark::spark {
namespace {

using nlohmann::json;

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

// Discarded: it is no JSON.
json ParseTolerantly(std::string_view text) {
  std::string valid = wire::ValidText(text);
  std::replace_if(
      valid.begin(), valid.end(), [](char c) { return c >= 0 && c < 0x20; }, ' ');
  json event = json::parse(valid, nullptr, /*allow_exceptions=*/false);
  if (!event.is_discarded()) return event;
  return json::parse(WithoutSurrogates(std::move(valid)), nullptr, /*allow_exceptions=*/false);
}

}  // namespace

void LogParser::Feed(std::string_view text, Take take) {
  scanner_.Feed(text, [&](std::string_view event) { Parse(event, take); });
}

void LogParser::Parse(std::string_view text, Take take) {
  const json event = ParseTolerantly(text);
  if (event.is_discarded() || !event.contains("Event")) {
    ++broken_;
    return;
  }
  ++events_;
  if (options_.measured != nullptr) options_.measured->Take(event);
  translator_.Translate(event, [&](absl::Time at, EventBody body) {
    if (job_id_.empty()) {
      job_id_ = options_.job_id.empty() ? translator_.application_id() : options_.job_id;
      if (job_id_.empty()) job_id_ = "spark";
    }
    take({.job_id = job_id_,
          .source_id = "driver",
          .sequence = ++sequence_,
          .sent_at = at,
          .arrived_at = at,
          .body = std::move(body)});
  });
}

LogCounts LogParser::counts() const {
  return {.events = events_,
          .unused_events = translator_.unused_events(),
          .contradictions = translator_.contradictions(),
          .broken_events = broken_ + scanner_.broken_events(),
          .oversized_events = scanner_.oversized_events()};
}

}  // namespace tidemark::spark
