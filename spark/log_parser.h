// Parses the text of one application's event log, in pieces of any size, into events of Tidemark.
//
//   LogParser parser({.job_id = "app-1"});
//   parser.Feed(text, [&](Event event) { monitor.Apply(event).IgnoreError(); });
//
// All events come from one source with a correct clock: sent_at and arrived_at are the times at
// which they happened, and never decrease. Events that the log has lost are gaps in their sequence.
// Pure and deterministic: it uses neither files nor a clock. The same text in other pieces gives
// the same events. Not thread-safe. Memory: bounded, see EventScanner and Translator.
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
  // Job id of the events. If empty, Spark's id of the application, or "spark" if the log has none.
  std::string job_id;
  // Receives counters and settings that events do not use. May be null.
  MeasuredStages* measured = nullptr;
};

// Numbers of events that were read.
struct LogCounts {
  std::uint64_t events = 0;            // of Spark
  std::uint64_t unused_events = 0;     // of those: kinds that do not show progress
  std::uint64_t contradictions = 0;    // what cannot be, such as tasks of stages never opened
  std::uint64_t broken_events = 0;     // no JSON, or cut short
  std::uint64_t oversized_events = 0;  // more than EventScanner takes
  std::uint64_t missing_events = 0;    // a lower bound; see Translator::missing_events()
  friend bool operator==(const LogCounts&, const LogCounts&) = default;
};

class LogParser {
 public:
  explicit LogParser(LogParserOptions options) : options_(std::move(options)) {}

  using Take = absl::FunctionRef<void(Event event)>;
  void Feed(std::string_view text, Take take);
  // Ends a file of a log that continues in another file: see EventScanner.
  void EndFile() { scanner_.EndFile(); }
  // Notes that files of the log are missing here: see Translator::Gap().
  void Gap(Take take);
  void SetCompacted(bool is_compacted) { translator_.SetCompacted(is_compacted); }
  // Treats the text as complete: see Translator::Finish().
  void Finish(Take take);

  LogCounts counts() const;
  // Returns whether the text so far ends inside an event of Spark.
  bool is_cut() const { return scanner_.is_inside(); }
  // Returns the state of the application after the events so far.
  const Translator& application() const { return translator_; }

 private:
  void Parse(std::string_view text, Take take);
  void Report(absl::Time at, EventBody body, Take take);

  const LogParserOptions options_;
  std::string job_id_;
  EventScanner scanner_;
  Translator translator_;
  std::uint64_t sequence_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t broken_ = 0;
  std::uint64_t lost_ = 0;  // events, as gaps in the sequence show them
};

}  // namespace tidemark::spark
