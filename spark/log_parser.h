// The text of one application's event log, in pieces of any size, to events of Tidemark.
//
//   LogParser parser({.job_id = "app-1"});
//   parser.Feed(text, [&](Event event) { monitor.Apply(event).IgnoreError(); });
//
// The events are those of one source whose clock is right: sent_at and arrived_at are when they
// happened, and never decrease. Pure, and deterministic: neither files nor a clock. The same text
// in other pieces gives the same events. Not thread-safe. Memory: bounded, see EventScanner and
// Translator.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "spark/event_scanner.h"
#include "spark/measured_stages.h"
#include "spark/translator.h"
#include "tidemark/event.h"

namespace tidemark::spark {

struct LogParserOptions {
  // Of the events; empty: what Spark calls the application, or "spark" if the log does not say.
  std::string job_id;
  // Where counters and settings go that are of no use to events; null: nowhere.
  MeasuredStages* measured = nullptr;
};

// What was read.
struct LogCounts {
  std::uint64_t events = 0;            // of Spark
  std::uint64_t unused_events = 0;     // of those: kinds that say nothing of progress
  std::uint64_t contradictions = 0;    // what cannot be, such as tasks of stages never opened
  std::uint64_t broken_events = 0;     // no JSON, or cut short
  std::uint64_t oversized_events = 0;  // more than EventScanner takes
  friend bool operator==(const LogCounts&, const LogCounts&) = default;
};

class LogParser {
 public:
  explicit LogParser(LogParserOptions options) : options_(std::move(options)) {}

  using Take = absl::FunctionRef<void(Event event)>;
  void Feed(std::string_view text, Take take);

  LogCounts counts() const;
  // Whether the text ends, so far, inside an event of Spark.
  bool is_cut() const { return scanner_.is_inside(); }
  // What the application has come to.
  const Translator& application() const { return translator_; }

 private:
  void Parse(std::string_view text, Take take);

  const LogParserOptions options_;
  std::string job_id_;
  EventScanner scanner_;
  Translator translator_;
  std::uint64_t sequence_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t broken_ = 0;
};

}  // namespace tidemark::spark
