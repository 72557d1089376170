// Plays one attempt at a reduce task: calls its task agent like the engine, at virtual times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "agent/inbox.h"
#include "agent/monotonic.h"
#include "agent/reduce_recorder.h"
#include "agent/shared.h"
#include "bench/accuracy/cost_log.h"
#include "bench/accuracy/timeline.h"
#include "tidemark/agent.h"
#include "tidemark/event.h"
#include "tidemark/v1/event.pb.h"

namespace tidemark::bench {

// Converts virtual time, in seconds from the start of the reduce phase, to an instant. Every
// process has the correct time.
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

// One reporting process in virtual time. It uses the measuring, merging and buffering of agent/
// without its thread, network and clocks. Task recorders are created with shared() and must be
// destroyed first.
class VirtualAgent {
 public:
  // Sets all fields of the event except its body and its arrival.
  using Post = std::function<void(Event event, const v1::Event& body)>;

  explicit VirtualAgent(const AgentOptions& options);
  // Drops reports after the end of the agent, since storing them would keep both alive.
  ~VirtualAgent() { shared_->inbox.Close(); }
  VirtualAgent(const VirtualAgent&) = delete;
  VirtualAgent& operator=(const VirtualAgent&) = delete;

  VirtualClock& clock() { return clock_; }
  const std::shared_ptr<agent::Shared>& shared() const { return shared_; }

  // Performs a wake-up of agent::Background, which processes the task's reports.
  void Execute();
  // Empties the ring, which is due every 8,000 key groups.
  void Collect();
  // Reports at the end of a flush interval.
  void Flush();

  // Sends all waiting events now and acknowledges them.
  void Deliver(const Post& post);
  // Requests names of key groups, and points, like a master.
  void Steer(const NamedGroups& wanted, bool wants_points);

 private:
  VirtualClock clock_;
  const std::shared_ptr<agent::Shared> shared_;
  std::vector<std::shared_ptr<agent::Reporter>> reporters_;
  NamedGroups wanted_;  // the last request
  std::string job_id_;
  std::string source_id_;
};

// A key group reads all records when it begins and emits everything when it ends, unless it has a
// curve.
class ReducePlayer {
 public:
  // `log`, `groups` (indexes into `log`, one per group_ends of the attempt) and `attempt` must
  // outlive this object.
  ReducePlayer(const CostLog& log, std::span<const std::uint32_t> groups, const Attempt& attempt,
               const AgentOptions& options);

  // Plays all events up to `now`, which never decreases and is not before the attempt's start.
  void PlayUntil(double now);
  // Reports at the end of a flush interval at `now`.
  void Flush(double now);
  bool is_over() const { return over_; }
  VirtualAgent& agent() { return agent_; }

 private:
  // The counters of the key group in progress.
  struct Counters {
    std::uint64_t bytes_read = 0;
    std::uint64_t values_read = 0;
    std::uint64_t bytes_emitted = 0;
  };
  void Begin();
  void EndGroups(double now);
  void PlayPartOfGroup(double now);
  void ReadUpTo(const Counters& counters);
  const GroupCost& group() const { return log_.groups[groups_[position_]]; }
  double group_start() const {
    return position_ == 0 ? attempt_.start : attempt_.group_ends[position_ - 1];
  }

  const CostLog& log_;
  const std::span<const std::uint32_t> groups_;
  const Attempt& attempt_;
  VirtualAgent agent_;
  std::unique_ptr<agent::ReduceRecorder> recorder_;
  std::size_t position_ = 0;  // the first unfinished group
  bool in_group_ = false;
  bool over_ = false;
  Counters counters_;
};

}  // namespace tidemark::bench
