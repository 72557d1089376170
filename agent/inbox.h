// The commands of the engine's threads to the background thread, in order.
//
// A single queue keeps the order across calls: a task's last profile is sent before the attempt
// change that the engine reports after Finish(). The lock is held only for a push or a swap, so no
// caller waits for the network or for another caller. The queue is bounded: events beyond
// `bytes_max` are rejected, and events of the job beyond twice that limit. Commands without an
// event take a few bytes per task and are always accepted.
//
// Thread-safe; only one thread may call WaitUntil().
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

#include "agent/monotonic.h"
#include "tidemark/event.h"

namespace tidemark::agent {

// The background thread's side of a task agent: converts measurements to events. Belongs to the
// background thread.
class Reporter {
 public:
  virtual ~Reporter() = default;
  // Takes the measurements of the task's thread, so that its buffer does not fill up. Called often.
  virtual void Collect() {}
  // Switches to profiles, since the task's input is complete.
  virtual void BeginProfiles() {}
  // Adds new data to the outbox. Called at every flush.
  virtual void Report() = 0;
  // Adds the last report.
  virtual void ReportLast() { Report(); }
};

// Sends one event.
struct SendEvent {
  EventBody body;
  std::int64_t made_at_nanos = 0;
};
// Reports on a task at every flush.
struct StartReports {
  std::shared_ptr<Reporter> reporter;
};
// Switches a reduce task's reports to profiles, since its input is complete.
struct StartProfiles {
  std::shared_ptr<Reporter> reporter;
};
// Sends the last report.
struct EndReports {
  std::shared_ptr<Reporter> reporter;
};
// Reports now and returns the number of the newest event, or nullopt after the end.
struct FlushNow {
  std::shared_ptr<std::promise<std::optional<std::uint64_t>>> newest;
};

using Command = std::variant<SendEvent, StartReports, StartProfiles, EndReports, FlushNow>;

class Inbox {
 public:
  explicit Inbox(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // Returns false if there is no room for the event, or if the inbox is closed.
  bool Push(Command command);
  // Ends the current or the next wait.
  void Wake();
  // Returns all commands when there are any, on Wake(), or at the deadline.
  std::vector<Command> WaitUntil(Instant deadline);
  // Closes the inbox and returns its commands. Later commands are rejected.
  std::vector<Command> Close();

 private:
  const std::size_t bytes_max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // The members below are guarded by mutex_.
  std::vector<Command> commands_;
  std::size_t bytes_ = 0;
  bool woken_ = false;
  bool closed_ = false;
};

}  // namespace tidemark::agent
