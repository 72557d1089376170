// The state that the parts of one agent share. All parts own it, so it outlives the agent if a task
// agent or an abandoned stream does.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "agent/inbox.h"
#include "agent/outbox.h"
#include "agent/problem_reporter.h"
#include "agent/settings.h"
#include "tidemark/agent.h"

namespace tidemark::agent {

// The limit of a source id and of a run_uid on the wire (event.proto).
inline constexpr std::size_t kSourceIdBytesMax = 128;

// The state of the transport. Thread-safe.
class TransportLog {
 public:
  void ConnectionMade() { made_.fetch_add(1, std::memory_order_relaxed); }
  void ConnectionLost() { lost_.fetch_add(1, std::memory_order_relaxed); }
  // `reason` is the error for people, without address and code.
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
  // `given_clock` must outlive this.
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
  // off. The background thread may not have turned off yet.
  void Enqueue(EventBody body) {
    const bool is_taken =
        off_reason() == nullptr && inbox.Push(SendEvent{std::move(body), clock.Nanos()});
    if (!is_taken) outbox.CountDropped();
  }

  // Turns the agent off to protect the engine. `reason` is a literal, since memory for another text
  // may be missing.
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
  // Return the limits of names and points that a reduce task keeps for its next profile. Together
  // they take at most two thirds of the buffer. A reduce task names up to 16 k keys, ten times as
  // many as a map task.
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
  // Bytes on the wire. The upper limit is a quarter of gRPC's default limit.
  static constexpr std::size_t kEventBytesMin = std::size_t{1} << 12;
  static constexpr std::size_t kEventBytesMax = std::size_t{1} << 20;

  const std::size_t buffer_bytes_max;
  std::atomic<const char*> off_reason_{nullptr};
};

// Runs `work` and returns true if it completed. Keeps exceptions of the agent away from the threads
// of the engine and of gRPC. An exception turns the agent off, since state may be incomplete.
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
