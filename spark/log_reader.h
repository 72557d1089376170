// The event log of an application, as events of Tidemark.
//
//   const auto reader = LogReader::Open("/logs/eventlog_v2_app-1", {});
//   for (auto event = (*reader)->Next(); event.ok() && *event; event = (*reader)->Next()) ...
//
// LogReader reads logs of Spark 1.4 to 4.0 from disk: files, folders or archives (log_files.h),
// plain or compressed (unpacker.h), of applications that ended, run or were killed. LogParser
// parses their text. Every command that reads a Spark log does so here, in one pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "spark/event_scanner.h"
#include "spark/log_files.h"
#include "spark/log_text.h"
#include "spark/measured_stages.h"
#include "spark/translator.h"
#include "tidemark/event.h"

namespace tidemark::spark {

class ExecutedPlans;

struct LogParserOptions {
  // Job id of the events. If empty, the id is Spark's id of the application, or "spark" if the log
  // has none.
  std::string job_id = {};
  // Receive the facts that events of Tidemark do not carry. May be null; not owned.
  MeasuredStages* measured = nullptr;
  ExecutedPlans* plans = nullptr;
};

// Counts of the events that were read.
struct LogCounts {
  std::uint64_t events = 0;         // Spark events
  std::uint64_t unused_events = 0;  // events of kinds that show no progress
  // impossible events, such as tasks of stages that were never opened
  std::uint64_t contradictions = 0;
  std::uint64_t broken_events = 0;     // not JSON, or cut short
  std::uint64_t oversized_events = 0;  // larger than EventScanner keeps
  std::uint64_t missing_events = 0;    // lower bound; see Translator::missing_events()
  std::uint64_t missing_ends = 0;      // missing ends of tasks; lower bound
  friend bool operator==(const LogCounts&, const LogCounts&) = default;
};

// Parses the text of one application's log, in pieces of any size.
//
//   LogParser parser({.job_id = "app-1"});
//   parser.Feed(text, [&](Event event) { monitor.Apply(event).IgnoreError(); });
//
// All events come from one source with a correct clock: sent_at and arrived_at are the times in the
// log, and never decrease. Lost events leave gaps in the sequence. Pure and deterministic: the
// events do not depend on how the text is split into pieces. Not thread-safe. Memory is bounded;
// see EventScanner and Translator.
class LogParser {
 public:
  explicit LogParser(LogParserOptions options);

  using Take = absl::FunctionRef<void(Event event)>;
  void Feed(std::string_view text, Take take);
  // Ends a file of a log that continues in another file; see EventScanner.
  void EndFile() { scanner_.EndFile(); }
  // Records that files of the log are missing here; see Translator::Gap().
  void Gap(Take take);
  void SetCompacted(bool is_compacted) { translator_.SetCompacted(is_compacted); }
  // Treats the text as complete; see Translator::Finish().
  void Finish(Take take);

  LogCounts counts() const;
  // Returns true if the text so far ends inside a Spark event.
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
  std::uint64_t lost_ = 0;  // lost events that the sequence already skips
};

struct LogReaderOptions {
  std::string job_id = {};             // as in LogParserOptions
  MeasuredStages* measured = nullptr;  // as in LogParserOptions; outlives the reader
  ExecutedPlans* plans = nullptr;      // as in LogParserOptions; outlives the reader
  bool follows = false;                // whether the application may still write the log
};

// Not thread-safe. Memory: a few megabytes for a log of any size.
class LogReader {
 public:
  // Opens the only log at `path`, or one of several logs. Returns NotFound or InvalidArgument if it
  // is not an event log by its name and kind, DataLoss if its archive is damaged.
  static absl::StatusOr<std::unique_ptr<LogReader>> Open(const std::string& path,
                                                         const LogReaderOptions& options);
  static absl::StatusOr<std::unique_ptr<LogReader>> Open(const LogFiles& log,
                                                         const LogReaderOptions& options);
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  // Returns the next event. Returns nullopt at the end of the log. For a followed log, also returns
  // nullopt if there are no more events yet, or after 0.2 s without one. A log that ends within an
  // event or a compressed frame is read up to that point. Errors name the file, and each later call
  // returns the same one:
  //   InvalidArgument    not a Spark event log, an application without its start, or a clock
  //                      that jumps; if plans are not read, also an application without a time
  //   ResourceExhausted  more than JobLimits::kStagesMax stages or kGroupsMax queries and jobs,
  //                      unless the log is followed, or plans are read
  //   Unimplemented      an unsupported compression
  //   DataLoss           damaged; earlier events were returned
  //   Unavailable        an error of the file system
  //   Aborted            a followed log was truncated or replaced: open it again
  absl::StatusOr<std::optional<Event>> Next();
  // Largest number of queries, and jobs outside of queries. Reading this many with one stage each
  // takes 350 MB.
  static constexpr std::uint64_t kGroupsMax = 50'000;

  // Treats a followed log as complete: Next() returns the end of its application, even if ends of
  // queries and jobs are missing. Other logs are complete once Next() has read them.
  void Finish();

  // Returns true if the log so far ends within an event or a compressed frame.
  bool is_cut() const;
  // Returns remarks for a person, a sentence each and at most kRemarksMax: losses in the log's
  // files, and steps back of the driver's clock.
  static constexpr std::size_t kRemarksMax = 20;
  const std::vector<std::string>& remarks() const { return remarks_; }
  LogCounts counts() const { return parser_.counts(); }
  const Translator& application() const { return parser_.application(); }
  // Returns true if Next() has returned the end of the log.
  bool is_at_end() const { return is_at_end_; }

 private:
  LogReader(std::string path, std::unique_ptr<LogText> text, const LogReaderOptions& options);
  absl::StatusOr<bool> ReadPiece();
  void BeginFile();
  void EndLog();
  absl::Status Fault() const;
  absl::Status Verdict() const;
  void Remark(std::string text);
  void RemarkOnClock();

  const std::string path_;
  const LogReaderOptions options_;
  std::unique_ptr<LogText> text_;
  std::string first_file_;
  std::vector<std::string> remarks_;
  std::uint64_t noted_set_backs_ = 0;
  std::uint64_t noted_steps_forward_ = 0;
  bool is_at_end_ = false;
  bool is_truncated_ = false;  // whether a remark on the truncated last file was added
  LogParser parser_;
  std::deque<Event> events_;
  absl::Status error_;
};

// Returns remarks for a person on facts that the log lacks, and on a truncated log. Returns an
// empty list if there are no remarks. `rejected` is the number of events that a JobMonitor did not
// accept.
std::vector<std::string> RemarksOn(const LogReader& log, std::uint64_t rejected);
// Returns remarks on impossible metrics of tasks.
std::vector<std::string> RemarksOn(const ImpossibleValues& impossible);

}  // namespace tidemark::spark
