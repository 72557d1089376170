// The applications that run now, from the event logs that they write into one folder.
//
//   LogFollower follower("/spark-logs", {.source_id = "log-1", .note = print});
//   for (;; Sleep(1 s)) follower.Poll(now, [&](Event event) { ... });
//
// An application runs while its log is named so (.inprogress) and grows. Not thread-safe, but for
// Stop().
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "spark/log_reader.h"
#include "spark/signs_of_life.h"
#include "tidemark/event.h"

namespace tidemark::spark {

struct LogFollowerOptions {
  // Of signs of life: unique among processes that follow the same logs.
  std::string source_id = "log";
  // A log that did not grow for so long is taken for that of a driver that was killed, until it
  // grows. Drivers flush theirs when stages end and not for tasks, so it is longer than most
  // stages.
  absl::Duration quiet_max = absl::Hours(6);
  // Logs at once; others wait.
  std::size_t logs_max = 1000;
  // Events of one call of Poll(), about.
  std::size_t events_max = 100'000;
  // Told what an operator should know, a line at a time; may be empty.
  std::function<void(const std::string& line)> note;
};

class LogFollower {
 public:
  LogFollower(std::string folder, LogFollowerOptions options);

  // What was added to the logs since the last call, and signs of life. Each event has the id of its
  // application as job and run, and is sent `now`, a wall clock's; its instants are the driver's.
  // The events of a log are the same ones, with the same sequences, whoever reads it how often.
  using Take = absl::FunctionRef<void(Event event)>;
  void Poll(absl::Time now, Take take);

  // Poll() tells nothing from now on, and one that runs returns: a log that unpacks to next to
  // nothing may hold that up for a fifth of a second, others for an event. Any thread.
  void Stop() { is_stopped_ = true; }

  std::size_t followed_logs() const { return logs_.size(); }

 private:
  struct Log {
    std::unique_ptr<LogReader> reader;
    SignsOfLife signs;
    absl::Time grew_at;
    std::optional<absl::Time> ended_at;         // when its ApplicationEnd was read
    std::size_t remarks = 0;                    // of LogReader::remarks() that were noted
    absl::Time sign_at = absl::InfinitePast();  // the last one
    bool is_replaced = false;                   // to be read from its start
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
  std::set<std::string> finished_;   // that are still named as if they ran
  absl::Time looked_at_ = absl::InfinitePast();
  std::atomic<bool> is_stopped_ = false;
  std::string trouble_;  // with the folder, as it was noted last
};

}  // namespace tidemark::spark
