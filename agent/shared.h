// What the parts of one agent share. Owned by all of them together: a task agent that outlives its
// agent, or a stream that had to be abandoned, still finds it in place.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "agent/inbox.h"
#include "agent/outbox.h"
#include "agent/settings.h"
#include "agent/source_id.h"
#include "agent/trouble.h"
#include "tidemark/agent.h"

namespace tidemark::agent {

// How the transport fares. Thread-safe.
class TransportLog {
 public:
  void ConnectionMade() { made_.fetch_add(1, std::memory_order_relaxed); }
  void ConnectionLost() { lost_.fetch_add(1, std::memory_order_relaxed); }
  // `reason`: the same for people, without address and code.
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
  mutable std::mutex mutex_;  // guards all below
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
        trouble(options.master_address, options.on_trouble),
        buffer_bytes_max(options.buffer_bytes_max) {}

  // Says one event through the inbox; drops and counts it when there is no room, or the agent is
  // off, which its thread may not have noticed yet.
  void Say(EventBody body) {
    const bool is_taken =
        off_reason() == nullptr && inbox.Push(SayEvent{std::move(body), clock.Nanos()});
    if (!is_taken) outbox.CountDropped();
  }

  // The agent does nothing from now on: it must not harm the engine. `reason` is a literal, since
  // there may be no memory for another text.
  void TurnOff(const char* reason) noexcept {
    const char* none = nullptr;
    off_reason_.compare_exchange_strong(none, reason);
    inbox.Wake();
  }
  // Null while it is on.
  const char* off_reason() const { return off_reason_.load(); }

  // Several profiles fit into the buffer, whatever its size.
  std::size_t event_bytes_max() const {
    return std::clamp(buffer_bytes_max / 8, kEventBytesMin, kEventBytesMax);
  }
  // How much of each a reduce task may keep for its next profile: together they take up to two
  // thirds of the buffer, and 16 k names are an order of magnitude above those of a map task.
  std::size_t names_max() const {
    return std::clamp(buffer_bytes_max / 64, std::size_t{64}, std::size_t{1} << 14);
  }
  std::size_t points_max() const {
    return std::clamp(buffer_bytes_max / 64, std::size_t{64}, std::size_t{1} << 13);
  }
  // Of an event that is never split: a map profile, what opens a stage or a job.
  std::size_t whole_event_bytes_max() const {
    return std::clamp(buffer_bytes_max / 2, kEventBytesMin, kEventBytesMax);
  }

  const Clock& clock;
  const std::string source_id;
  Settings settings;
  Inbox inbox;
  Outbox outbox;
  TransportLog transport;
  Trouble trouble;
  std::atomic<std::uint64_t> points_dropped{0};  // before they came to the outbox

 private:
  // On the wire. The upper one is a quarter of what gRPC accepts by default.
  static constexpr std::size_t kEventBytesMin = std::size_t{1} << 12;
  static constexpr std::size_t kEventBytesMax = std::size_t{1} << 20;

  const std::size_t buffer_bytes_max;
  std::atomic<const char*> off_reason_{nullptr};
};

}  // namespace tidemark::agent
