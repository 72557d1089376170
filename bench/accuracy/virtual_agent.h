// An agent in virtual time: the real measuring, merging and buffering of agent/, without its
// thread, network and clocks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "agent/inbox.h"
#include "agent/monotonic.h"
#include "agent/shared.h"
#include "tidemark/agent.h"
#include "tidemark/event.h"
#include "tidemark/v1/event.pb.h"

namespace tidemark::bench {

// Virtual time is in seconds from the start of the reduce phase. Every process has the correct
// time.
absl::Time InstantOf(double seconds);
double SecondsOf(absl::Time instant);

// Replaces the serialized key in virtual tasks, on the map side and on the reduce side.
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

// One reporting process. Task recorders are created with shared() and must be destroyed first.
class VirtualAgent {
 public:
  // Sets all fields of the event except its body and its arrival.
  using Post = std::function<void(Event event, const v1::Event& body)>;

  explicit VirtualAgent(const AgentOptions& options);
  // Reports after the end of the agent are dropped; storing them would keep both alive.
  ~VirtualAgent() { shared_->inbox.Close(); }
  VirtualAgent(const VirtualAgent&) = delete;
  VirtualAgent& operator=(const VirtualAgent&) = delete;

  VirtualClock& clock() { return clock_; }
  const std::shared_ptr<agent::Shared>& shared() const { return shared_; }

  // Performs a wake-up of agent::Background: processes the task's reports ...
  void Execute();
  // ... empties the ring, which is due every 8,000 key groups ...
  void Collect();
  // ... and, at the end of a flush interval, reports.
  void Flush();

  // Sends all waiting events now, and acknowledges them.
  void Deliver(const Post& post);
  // Requests names of key groups, and points, for the master.
  void Steer(const NamedGroups& wanted, bool wants_points);

 private:
  VirtualClock clock_;
  const std::shared_ptr<agent::Shared> shared_;
  std::vector<std::shared_ptr<agent::Reporter>> reporters_;
  NamedGroups wanted_;  // the last request
  std::string job_id_;
  std::string source_id_;
};

}  // namespace tidemark::bench
