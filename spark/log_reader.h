// The event log of an application, as events of Tidemark.
//
//   const auto reader = LogReader::Open("/logs/eventlog_v2_app-1", {});
//   for (auto event = (*reader)->Next(); event.ok() && *event; event = (*reader)->Next()) ...
//
// LogReader reads logs of Spark 1.4 to 4.0 from disk: files, folders or archives (log_files.h),
// plain or compressed (log_text.h), of applications that ended, run or were killed. LogParser
// parses their text. Every command that reads a Spark log does so here, in one pass.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
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
  // These receive facts that events of Tidemark do not contain. May be null; not owned.
  MeasuredStages* measured = nullptr;
  ExecutedPlans* plans = nullptr;
};

// Counts of the events that were read.
struct LogCounts {
  std::uint64_t events = 0;         // number of Spark events
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
// log and never decrease. Lost events leave gaps in the sequence. Pure and deterministic; the
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
  bool follows = false;                // true if the application may still write the log
};

// Not thread-safe. Takes a few megabytes of memory for a log of any size.
class LogReader {
 public:
  // Opens the only log at `path`, or one of several logs. Fails with NotFound or InvalidArgument if
  // its name or kind is not that of an event log, and with DataLoss if its archive is damaged.
  static absl::StatusOr<std::unique_ptr<LogReader>> Open(const std::string& path,
                                                         const LogReaderOptions& options);
  static absl::StatusOr<std::unique_ptr<LogReader>> Open(const LogFiles& log,
                                                         const LogReaderOptions& options);
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  // Returns the next event. Returns nullopt at the end of the log. For a followed log, also returns
  // nullopt if there are no more events yet, or after 0.2 s without one. A log that ends within an
  // event or a compressed frame is read up to that point. Errors name the file, and each later call
  // returns the same error:
  //   InvalidArgument    not a Spark event log, an application without its start, or a clock
  //                      that jumps; if plans are not read, also an application without a time
  //   ResourceExhausted  more than JobLimits::kStagesMax stages or kGroupsMax queries and jobs,
  //                      unless the log is followed, or plans are read
  //   Unimplemented      an unsupported compression
  //   DataLoss           damaged; earlier events were returned
  //   Unavailable        an error of the file system
  //   Aborted            a followed log was truncated or replaced; open it again
  absl::StatusOr<std::optional<Event>> Next();
  // Maximum number of queries, and jobs outside queries. Reading this many with one stage each
  // takes 350 MB of memory.
  static constexpr std::uint64_t kGroupsMax = 50'000;

  // Treats a followed log as complete. Next() then returns the end of its application, even if ends
  // of queries and jobs are missing. Other logs are complete once Next() has read them.
  void Finish();

  // Returns true if the log so far ends within an event or a compressed frame.
  bool is_cut() const;
  // Returns true if the log has been read and is cut, unless a driver may still be writing it.
  bool is_truncated() const;
  // Returns human-readable remarks, one sentence each and at most kRemarksMax: losses in the log's
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

// Returns human-readable remarks on facts that the log lacks and on a truncated log, or an empty
// list. `rejected` is the number of events that a JobMonitor did not accept.
std::vector<std::string> RemarksOn(const LogReader& log, std::uint64_t rejected);
// Returns remarks on impossible metrics of tasks.
std::vector<std::string> RemarksOn(const ImpossibleValues& impossible);

// Reports that tasks run. A log has no entry for a task between its start and its end. A monitor
// would treat the gap as silence: its estimate would stop, and the job would eventually be
// abandoned. Not thread-safe. Takes O(1) memory, since it reports at most 1,000 tasks.
class RunningTasks {
 public:
  // `source_id` is the source of the reports. It must differ from the source of the log's events.
  explicit RunningTasks(std::string source_id) : source_id_(std::move(source_id)) {}

  // Adds an event of the log. Events must be added in order.
  void Observe(const Event& event);
  // Passes a heartbeat of each running task to `take`. If no task runs, reports that the
  // application exists. Reports nothing before the application opens.
  using Take = absl::FunctionRef<void(Event event)>;
  void Report(absl::Time at, Take take);

 private:
  const std::string source_id_;
  std::string job_id_;
  std::string run_uid_;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>> running_;
  std::uint64_t sequence_ = 0;
};

struct LogFollowerOptions {
  // Source of the reports on running tasks; unique among processes that follow the same logs.
  std::string source_id = "log";
  // If a log does not grow for this long, its driver counts as killed until the log grows again.
  // Drivers write when stages end but not when tasks end, so this time must exceed the length of
  // most stages.
  absl::Duration quiet_max = absl::Hours(6);
  // Maximum number of logs followed at the same time. Further logs wait.
  std::size_t logs_max = 1000;
  // Approximate maximum number of events per call of Poll().
  std::size_t events_max = 100'000;
  // Receives messages for the operator, one line each. May be empty.
  std::function<void(const std::string& line)> note;
};

// Follows the event logs that running applications write into one folder.
//
//   LogFollower follower("/spark-logs", {.source_id = "log-1", .note = print});
//   for (;; Sleep(1 s)) follower.Poll(now, [&](Event event) { ... });
//
// An application runs while its log has the suffix .inprogress and grows.
// Not thread-safe, except for Stop().
class LogFollower {
 public:
  LogFollower(std::string folder, LogFollowerOptions options);

  // Passes the events that have been added to the logs since the last call, and reports on running
  // tasks, to `take`. The job id and run id of each event are the id of its application. `now` is
  // the sending time by a wall clock; other times are the driver's. Every reader of a log gets the
  // same events with the same sequences.
  using Take = absl::FunctionRef<void(Event event)>;
  void Poll(absl::Time now, Take take);

  // Makes a running Poll() return, and later calls do nothing. A running Poll() returns after its
  // current event, or within 0.2 s in a log that unpacks mostly to whitespace. Thread-safe.
  void Stop() { is_stopped_ = true; }

  std::size_t followed_logs() const { return logs_.size(); }

 private:
  struct Log {
    std::unique_ptr<LogReader> reader;
    RunningTasks running;
    absl::Time grew_at;
    std::optional<absl::Time> ended_at;  // time at which ApplicationEnd was read
    std::size_t remarks = 0;             // number of LogReader::remarks() that have been reported
    absl::Time reported_at = absl::InfinitePast();  // last report on running tasks
    bool is_replaced = false;                       // true if it must be read from its start
  };

  void FindLogs(absl::Time now);
  bool Follow(const std::string& path, Log& log, absl::Time now, Take take);
  bool IsQuiet(const Log& log, absl::Time now) const {
    return now - log.grew_at > options_.quiet_max;
  }
  void Note(const std::string& line) const;

  const std::string folder_;
  const LogFollowerOptions options_;
  std::map<std::string, Log> logs_;  // by path
  std::set<std::string> finished_;   // ended logs whose names still have the suffix
  absl::Time searched_at_ = absl::InfinitePast();
  std::atomic<bool> is_stopped_ = false;
  std::string folder_error_;  // last reported error of the folder
};

}  // namespace tidemark::spark
