// What the parts of one agent share. Owned by all of them together: a task agent that outlives its
// agent, or a stream that gRPC has not let go of yet, still finds it in place.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "agent/inbox.h"
#include "agent/outbox.h"
#include "agent/settings.h"
#include "tidemark/agent.h"

namespace tidemark::agent {

// How the transport fares. Thread-safe.
class TransportLog {
 public:
  void ConnectionMade() { made_.fetch_add(1, std::memory_order_relaxed); }
  void ConnectionLost() { lost_.fetch_add(1, std::memory_order_relaxed); }
  void Error(std::string what) {
    const std::lock_guard lock(mutex_);
    last_error_ = std::move(what);
  }

  std::uint64_t connections_made() const { return made_.load(std::memory_order_relaxed); }
  std::uint64_t connections_lost() const { return lost_.load(std::memory_order_relaxed); }
  std::string last_error() const {
    const std::lock_guard lock(mutex_);
    return last_error_;
  }

 private:
  std::atomic<std::uint64_t> made_{0};
  std::atomic<std::uint64_t> lost_{0};
  mutable std::mutex mutex_;
  std::string last_error_;  // guarded by mutex_
};

struct Shared {
  Shared(const AgentOptions& options, std::string given_source_id)
      : source_id(std::move(given_source_id)),
        settings(options),
        inbox(options.buffer_bytes_max),
        outbox(source_id, options.job_id, options.buffer_bytes_max) {}

  // Says one event through the inbox; drops and counts it when there is no room.
  void Say(EventBody body) {
    if (!inbox.Push(SayEvent{std::move(body), NowNanos()})) outbox.CountDropped();
  }

  const std::string source_id;
  Settings settings;
  Inbox inbox;
  Outbox outbox;
  TransportLog transport;
  std::atomic<std::uint64_t> points_dropped{0};
};

}  // namespace tidemark::agent
