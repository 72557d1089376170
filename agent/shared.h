// The state that the parts of one agent share. All parts own it, so it outlives the agent if a task
// agent or an abandoned stream does.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "agent/monotonic.h"
#include "agent/outbox.h"
#include "tidemark/agent.h"
#include "tidemark/event.h"

namespace tidemark::v1 {
class Control;
}

namespace tidemark::agent {

// The background thread's part of a task agent. Converts measurements to events.
class Reporter {
 public:
  virtual ~Reporter() = default;
  // Takes the measurements from the task's thread, so that its buffer does not fill up. Called
  // often.
  virtual void Collect() {}
  // Switches to profiles, since the task's input is complete.
  virtual void BeginProfiles() {}
  // Adds new data to the outbox. Called at every flush.
  virtual void Report() = 0;
  // Adds the last report.
  virtual void ReportLast() { Report(); }
};

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
// Sends all data and returns the number of the newest event, or nullopt after the end.
struct FlushNow {
  std::shared_ptr<std::promise<std::optional<std::uint64_t>>> newest;
};

using Command = std::variant<SendEvent, StartReports, StartProfiles, EndReports, FlushNow>;

// The commands of the engine's threads to the background thread, in order.
//
// A single queue keeps the order across calls: a task's last profile is sent before the attempt
// change that the engine reports after Finish(). The lock is held only for a push or a swap, so no
// caller waits for the network or for another caller. The queue is bounded. It rejects events
// beyond `bytes_max`, and events of the job beyond twice that limit. Commands without an event take
// a few bytes per task and are always accepted.
//
// Thread-safe; only one thread may call WaitUntil().
class Inbox {
 public:
  explicit Inbox(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // Returns false if there is no space for the event or if the inbox is closed.
  bool Push(Command command);
  // Ends the current or the next wait.
  void Wake();
  // Returns all commands as soon as there are any, or on Wake() or at the deadline.
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

// Reports to the engine why the master accepts no events. Reports each reason once. Any thread may
// record a problem. One thread at a time reports them, outside of all locks.
class ProblemReporter {
 public:
  using Callback = std::function<void(const std::string&)>;

  // If `report` is empty, nothing is recorded.
  ProblemReporter(std::string master_address, Callback report)
      : address_(std::move(master_address)), report_(std::move(report)) {}

  // Records that the master rejected a stream or an event. Only the first problem of each code is
  // reported.
  void OnRejected(int code, const std::string& reason);
  // Records a local reason why the agent cannot send, such as an unreadable file.
  void OnLocalError(const std::string& reason);
  // Records the master's reason why it cannot accept events now.
  void OnStalled(const std::string& reason);
  // Records that the agent has turned itself off.
  void OnTurnedOff(const std::string& reason);

  // Reports the recorded problems. Also reports an unresponsive master if `unanswered_for` is at
  // least `patience`, at most once until all events are answered. Skips this report if another
  // problem has been recorded since then. After the engine has thrown an exception, reports no
  // further problems.
  void ReportNew(absl::Duration unanswered_for, absl::Duration patience,
                 const std::string& last_reason);
  // Returns true if ReportNew() may have to report an unresponsive master.
  bool waits_for_silence() const;

 private:
  // Kinds of problems in addition to the codes of gRPC.
  static constexpr int kTurnedOff = 29;
  static constexpr int kCannotSend = 30;
  static constexpr int kStalled = 31;

  void Note(int kind, std::string text);
  void Report(const std::string& text);

  const std::string address_;
  mutable std::mutex mutex_;
  // mutex_ guards the members below. Calls of report_ are made by one thread, without the lock.
  Callback report_;
  std::vector<std::string> noted_;
  std::uint32_t kinds_noted_ = 0;  // one bit per kind
  bool is_explained_ = false;      // the reason of the current outage has been reported
};

// The settings of the agent. The engine sets them, and the master may change them.
//
// Only the thread that reads from the master writes settings, but all threads read them. Members
// are independent, so relaxed atomics suffice, and other threads may see a change slightly later.
class Settings {
 public:
  explicit Settings(const AgentOptions& options);

  // Clamps fields to their limits (ingest_service.proto). Unset fields and invalid flush intervals
  // change nothing.
  void Apply(const v1::Control& control);

  absl::Duration flush_interval() const {
    return absl::Nanoseconds(flush_interval_nanos_.load(std::memory_order_relaxed));
  }
  std::uint32_t lambda() const { return lambda_.load(std::memory_order_relaxed); }
  std::uint64_t burst_threshold_bytes() const {
    return burst_threshold_bytes_.load(std::memory_order_relaxed);
  }
  std::uint32_t burst_groups_max() const {
    return burst_groups_max_.load(std::memory_order_relaxed);
  }
  // Returns the smallest size of named groups, which equals the burst threshold unless the master
  // set another size.
  std::uint64_t named_group_bytes_min() const {
    return names_set_.load(std::memory_order_relaxed)
               ? named_group_bytes_min_.load(std::memory_order_relaxed)
               : burst_threshold_bytes();
  }
  // Returns 0 until the master requests a sample, so that no group is named by sampling.
  std::uint64_t sampled_below() const { return sampled_below_.load(std::memory_order_relaxed); }
  std::uint64_t sampled_below_per_byte() const {
    return sampled_below_per_byte_.load(std::memory_order_relaxed);
  }
  // Returns false until the master requests points.
  bool send_points() const { return send_points_.load(std::memory_order_relaxed); }
  bool paused() const { return paused_.load(std::memory_order_relaxed); }

 private:
  void SetFlushInterval(absl::Duration interval);

  std::atomic<std::int64_t> flush_interval_nanos_;
  std::atomic<std::uint64_t> burst_threshold_bytes_;
  std::atomic<std::uint64_t> named_group_bytes_min_{0};
  std::atomic<std::uint64_t> sampled_below_{0};
  std::atomic<std::uint64_t> sampled_below_per_byte_{0};
  std::atomic<std::uint32_t> burst_groups_max_;
  std::atomic<std::uint32_t> lambda_;
  std::atomic<bool> names_set_{false};
  std::atomic<bool> paused_{false};
  std::atomic<bool> send_points_{false};
};

// Maximum length of a source id and of a run_uid (event.proto).
inline constexpr std::size_t kSourceIdBytesMax = 128;

// The state of the transport. Thread-safe.
class TransportLog {
 public:
  void ConnectionMade() { made_.fetch_add(1, std::memory_order_relaxed); }
  void ConnectionLost() { lost_.fetch_add(1, std::memory_order_relaxed); }
  // `reason` is the human-readable error, without address and code.
  void Error(std::string what, std::string reason) {
    const std::lock_guard lock(mutex_);
    last_error_ = std::move(what);
    last_reason_ = std::move(reason);
  }
  void JobRefused(std::string reason) {
    const std::lock_guard lock(mutex_);
    job_refusal_ = std::move(reason);
  }

  std::uint64_t connections_made() const { return made_.load(std::memory_order_relaxed); }
  std::uint64_t connections_lost() const { return lost_.load(std::memory_order_relaxed); }
  std::string last_error() const {
    const std::lock_guard lock(mutex_);
    return last_error_;
  }
  std::string job_refusal() const {
    const std::lock_guard lock(mutex_);
    return job_refusal_;
  }
  std::string last_reason() const {
    const std::lock_guard lock(mutex_);
    return last_reason_;
  }

 private:
  std::atomic<std::uint64_t> made_{0};
  std::atomic<std::uint64_t> lost_{0};
  mutable std::mutex mutex_;  // guards the members below
  std::string last_error_;
  std::string last_reason_;
  std::string job_refusal_;
};

struct Shared {
  // `given_clock` must outlive this object.
  Shared(const AgentOptions& options, std::string given_source_id,
         const Clock& given_clock = SystemClock())
      : clock(given_clock),
        source_id(std::move(given_source_id)),
        settings(options),
        inbox(options.buffer_bytes_max),
        outbox(source_id, options.job_id, options.run_uid.substr(0, kSourceIdBytesMax),
               options.buffer_bytes_max),
        problems(options.master_address, options.on_trouble),
        buffer_bytes_max(options.buffer_bytes_max) {}

  // Pushes one event to the inbox. Drops and counts the event if the inbox is full or the agent is
  // off, even if the background thread still runs.
  void Enqueue(EventBody body) {
    const bool is_taken =
        off_reason() == nullptr && inbox.Push(SendEvent{std::move(body), clock.Nanos()});
    if (!is_taken) outbox.CountDropped();
  }

  // Turns the agent off to protect the engine. `reason` is a literal, since there may be no memory
  // for another string.
  void TurnOff(const char* reason) noexcept {
    const char* none = nullptr;
    off_reason_.compare_exchange_strong(none, reason);
    inbox.Wake();
  }
  // Returns null while the agent is on.
  const char* off_reason() const { return off_reason_.load(); }

  // Returns the maximum size of an event. The buffer always holds several profiles.
  std::size_t event_bytes_max() const {
    return std::clamp(buffer_bytes_max / 8, kEventBytesMin, kEventBytesMax);
  }
  // These functions return the number of names and points that a reduce task keeps for its next
  // profile. Together they take at most two thirds of the buffer. A reduce task names up to 16 k
  // keys, ten times as many as a map task.
  std::size_t names_max() const {
    return std::clamp(buffer_bytes_max / 64, std::size_t{64}, std::size_t{1} << 14);
  }
  std::size_t points_max() const {
    return std::clamp(buffer_bytes_max / 64, std::size_t{64}, std::size_t{1} << 13);
  }
  // Returns the maximum size of events that are never split, such as map profiles and the openings
  // of stages and jobs.
  std::size_t whole_event_bytes_max() const {
    return std::clamp(buffer_bytes_max / 2, kEventBytesMin, kEventBytesMax);
  }

  const Clock& clock;
  const std::string source_id;
  Settings settings;
  Inbox inbox;
  Outbox outbox;
  TransportLog transport;
  ProblemReporter problems;
  std::atomic<std::uint64_t> points_dropped{0};  // dropped before they reached the outbox

 private:
  // Encoded sizes. The upper limit is a quarter of gRPC's default limit.
  static constexpr std::size_t kEventBytesMin = std::size_t{1} << 12;
  static constexpr std::size_t kEventBytesMax = std::size_t{1} << 20;

  const std::size_t buffer_bytes_max;
  std::atomic<const char*> off_reason_{nullptr};
};

// Runs `work` and returns true if it completed. Keeps the agent's exceptions away from threads of
// the engine and of gRPC. An exception turns the agent off, since the state may be incomplete.
template <typename Work>
bool Guarded(Shared& shared, Work work) noexcept {
  try {
    work();
    return true;
  } catch (const std::bad_alloc&) {
    shared.TurnOff("out of memory");
  } catch (...) {
    shared.TurnOff("an unexpected exception was thrown");
  }
  return false;
}

}  // namespace tidemark::agent
