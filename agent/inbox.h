// What the engine's threads tell the background thread, in the order they say it.
//
// One queue for everything keeps the order across calls: a task's last profile is sent before the
// attempt change that the engine reports after Finish(). The lock is only ever held for a push or a
// swap, so no caller waits on the network or on another's work. Bounded: events beyond `bytes_max`
// are refused, the job's own beyond twice as much; commands without an event are a few bytes for
// each task and always taken.
//
// Thread-safe; WaitUntil() is for one thread.
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

class Reporter;

// Sends one event.
struct SayEvent {
  EventBody body;
  std::int64_t made_at_nanos = 0;
};
// Reports on a task at every flush from now on.
struct StartReports {
  std::shared_ptr<Reporter> reporter;
};
// The reduce task has its input: its reports are profiles from now on.
struct StartProfiles {
  std::shared_ptr<Reporter> reporter;
};
// Reports a last time.
struct EndReports {
  std::shared_ptr<Reporter> reporter;
};
// Reports now and answers with the number of the newest event; empty: it is too late for that.
struct FlushNow {
  std::shared_ptr<std::promise<std::optional<std::uint64_t>>> newest;
};

using Command = std::variant<SayEvent, StartReports, StartProfiles, EndReports, FlushNow>;

class Inbox {
 public:
  explicit Inbox(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // False if it was an event and there was no room, or if the inbox is closed.
  bool Push(Command command);
  // Ends a wait, now or the next one.
  void Wake();
  // Returns all commands once there are any, on Wake() or at the deadline.
  std::vector<Command> WaitUntil(Instant deadline);
  // Closed: refuses all commands from now on and returns those that came before.
  std::vector<Command> Close();

 private:
  const std::size_t bytes_max_;
  std::mutex mutex_;
  std::condition_variable news_;
  // The rest: guarded by mutex_.
  std::vector<Command> commands_;
  std::size_t bytes_ = 0;
  bool woken_ = false;
  bool closed_ = false;
};

}  // namespace tidemark::agent
