// An agent whose time is virtual: the real measuring, merging and buffering of agent/, without its
// thread, its network and its clocks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "agent/monotonic.h"
#include "agent/reporter.h"
#include "agent/shared.h"
#include "tidemark/agent.h"
#include "tidemark/event.h"
#include "tidemark/v1/event.pb.h"

namespace tidemark::bench {

// Virtual time is in seconds from the start of the reduce phase; every process has the right time.
absl::Time InstantOf(double seconds);
double SecondsOf(absl::Time instant);

// What stands for the serialized key in virtual tasks, on the map side and on the reduce side.
inline std::string_view KeyBytes(const KeyHash& key) {
  return {reinterpret_cast<const char*>(&key), sizeof(key)};
}

class VirtualClock final : public agent::Clock {
 public:
  void Set(double seconds);
  agent::ClockReading Now() const override { return {wall_, monotonic_nanos_}; }
  std::int64_t Nanos() const override { return monotonic_nanos_; }

 private:
  absl::Time wall_;
  std::int64_t monotonic_nanos_ = 0;
};

// One process that reports. Task recorders are made with shared() and must go before this does.
class VirtualAgent {
 public:
  // Of the event everything but its body and its arrival is set.
  using Post = std::function<void(Event event, const v1::Event& body)>;

  explicit VirtualAgent(const AgentOptions& options);
  // What a task says after the end of its agent is dropped; kept, it would keep both alive.
  ~VirtualAgent() { shared_->inbox.Close(); }
  VirtualAgent(const VirtualAgent&) = delete;
  VirtualAgent& operator=(const VirtualAgent&) = delete;

  VirtualClock& clock() { return clock_; }
  const std::shared_ptr<agent::Shared>& shared() const { return shared_; }

  // What agent::Background does when it wakes up: carries out what the task has said so far ...
  void Execute();
  // ... takes what was measured out of the ring, which is due every 8,000 key groups ...
  void Collect();
  // ... and, at the end of a flush interval, reports.
  void Flush();

  // Sends everything that waits, now, and has it acknowledged.
  void Deliver(const Post& post);
  // The master asks for the names of key groups, and for points.
  void Steer(const NamedGroups& wanted, bool wants_points);

 private:
  VirtualClock clock_;
  const std::shared_ptr<agent::Shared> shared_;
  std::vector<std::shared_ptr<agent::Reporter>> reporters_;
  NamedGroups wanted_;  // as asked for last
  std::string job_id_;
  std::string source_id_;
};

}  // namespace tidemark::bench
