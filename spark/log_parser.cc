#include "spark/log_parser.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "spark/tolerant_json.h"

namespace tidemark::spark {

using nlohmann::json;

void LogParser::Feed(std::string_view text, Take take) {
  scanner_.Feed(text, [&](std::string_view event) { Parse(event, take); });
}

void LogParser::Parse(std::string_view text, Take take) {
  const json event = TolerantJson(text);
  if (event.is_discarded() || !event.contains("Event")) {
    ++broken_;
    return;
  }
  ++events_;
  if (options_.measured != nullptr) options_.measured->Take(event);
  translator_.Translate(event,
                        [&](absl::Time at, EventBody body) { Report(at, std::move(body), take); });
}

void LogParser::Gap(Take take) {
  translator_.Gap([&](absl::Time at, EventBody body) { Report(at, std::move(body), take); });
}

void LogParser::Finish(Take take) {
  translator_.Finish([&](absl::Time at, EventBody body) { Report(at, std::move(body), take); });
}

void LogParser::Report(absl::Time at, EventBody body, Take take) {
  if (job_id_.empty()) {
    job_id_ = options_.job_id.empty() ? translator_.application_id() : options_.job_id;
    if (job_id_.empty()) job_id_ = "spark";
  }
  const std::uint64_t lost = translator_.missing_events() + scanner_.lost_events();
  sequence_ += 1 + (lost - std::exchange(lost_, lost));
  take({.job_id = job_id_,
        .source_id = "driver",
        .sequence = sequence_,
        .sent_at = at,
        .arrived_at = at,
        .body = std::move(body)});
}

LogCounts LogParser::counts() const {
  return {.events = events_,
          .unused_events = translator_.unused_events(),
          .contradictions = translator_.contradictions(),
          .broken_events = broken_ + scanner_.broken_events(),
          .oversized_events = scanner_.oversized_events(),
          .missing_events = translator_.missing_events()};
}

}  // namespace tidemark::spark
