// Follows the event logs that running applications write into one folder.
//
//   LogFollower follower("/spark-logs", {.source_id = "log-1", .note = print});
//   for (;; Sleep(1 s)) follower.Poll(now, [&](Event event) { ... });
//
// An application runs while its log has the suffix .inprogress and grows.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "spark/log_reader.h"
#include "tidemark/event.h"

namespace tidemark::spark {

// Reports that tasks run. A log has no entry for a task between its start and its end. A monitor
// would treat the gap as silence: its estimate would stop, and the job would eventually count as
// abandoned. Not thread-safe. Memory: O(1), since it reports at most 1,000 tasks.
class RunningTasks {
 public:
  // `source_id` is the source of the reports. It must differ from the source of the log's events.
  explicit RunningTasks(std::string source_id) : source_id_(std::move(source_id)) {}

  // Adds an event of the log, in their order.
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
  // Drivers write when stages end but not when tasks end, so this must exceed the length of most
  // stages.
  absl::Duration quiet_max = absl::Hours(6);
  // Largest number of logs followed at the same time; further logs wait.
  std::size_t logs_max = 1000;
  // Approximate number of events per call of Poll().
  std::size_t events_max = 100'000;
  // Receives messages for the operator, one line each. May be empty.
  std::function<void(const std::string& line)> note;
};

// Not thread-safe, except for Stop().
class LogFollower {
 public:
  LogFollower(std::string folder, LogFollowerOptions options);

  // Passes to `take` the events that have been added to the logs since the last call, and reports
  // on running tasks. The job id and run id of each event are the id of its application. `now` is
  // the sending time, by a wall clock; other times are the driver's. Every reader of a log gets the
  // same events with the same sequences.
  using Take = absl::FunctionRef<void(Event event)>;
  void Poll(absl::Time now, Take take);

  // Makes a running Poll() return and later calls do nothing. A running Poll() returns after its
  // current event, or within 0.2 s in a log that unpacks mostly to whitespace. Thread-safe.
  void Stop() { is_stopped_ = true; }

  std::size_t followed_logs() const { return logs_.size(); }

 private:
  struct Log {
    std::unique_ptr<LogReader> reader;
    RunningTasks running;
    absl::Time grew_at;
    std::optional<absl::Time> ended_at;             // time at which its ApplicationEnd was read
    std::size_t remarks = 0;                        // number of reported LogReader::remarks()
    absl::Time reported_at = absl::InfinitePast();  // last report on running tasks
    bool is_replaced = false;                       // whether to read it from its start
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
