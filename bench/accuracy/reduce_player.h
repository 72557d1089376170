// Plays one attempt at a reduce task, which calls its task agent like the engine, but at virtual
// times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "agent/monotonic.h"
#include "agent/reduce_recorder.h"
#include "agent/shared.h"
#include "bench/accuracy/cost_log.h"
#include "bench/accuracy/timeline.h"
#include "tidemark/agent.h"
#include "tidemark/event.h"
#include "tidemark/v1/event.pb.h"

namespace tidemark::bench {

// Converts virtual time, in seconds since the start of the reduce phase, to a time of the clock.
// The clock of every process is correct.
absl::Time InstantOf(double seconds);
double SecondsOf(absl::Time instant);

// Replaces the serialized key in virtual tasks, for both map and reduce tasks.
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

// A reporting process in virtual time. It uses the code of agent/ that measures, merges and
// buffers, without its thread, network and clocks. Task recorders are created with shared(), and
// must be destroyed before this object.
class VirtualAgent {
 public:
  // Sets all fields of the event except its body and its arrival.
  using Post = std::function<void(Event event, const v1::Event& body)>;

  explicit VirtualAgent(const AgentOptions& options);
  // Drops reports after the end of the agent, since inbox and agent would otherwise keep each other
  // alive.
  ~VirtualAgent() { shared_->inbox.Close(); }
  VirtualAgent(const VirtualAgent&) = delete;
  VirtualAgent& operator=(const VirtualAgent&) = delete;

  VirtualClock& clock() { return clock_; }
  const std::shared_ptr<agent::Shared>& shared() const { return shared_; }

  // Does the work of one wake-up of agent::Background, which processes the task's reports.
  void Execute();
  // Empties the ring. Must be called after at most 8,000 key groups.
  void Collect();
  // Reports at the end of a flush interval.
  void Flush();

  // Sends and acknowledges all waiting events.
  void Deliver(const Post& post);
  // Requests names of key groups, and points, like a master.
  void Steer(const NamedGroups& wanted, bool wants_points);

 private:
  VirtualClock clock_;
  const std::shared_ptr<agent::Shared> shared_;
  std::vector<std::shared_ptr<agent::Reporter>> reporters_;
  NamedGroups wanted_;  // the last requested names
  std::string job_id_;
  std::string source_id_;
};

// Plays an attempt. A key group with a curve follows the curve. Other key groups read all records
// when they begin, and emit everything when they end.
class ReducePlayer {
 public:
  // `log`, `groups` (indexes into `log`, one for each of the attempt's group_ends) and `attempt`
  // must outlive this object.
  ReducePlayer(const CostLog& log, std::span<const std::uint32_t> groups, const Attempt& attempt,
               const AgentOptions& options);

  // Plays all events up to `now`, which never decreases and is not before the start of the attempt.
  void PlayUntil(double now);
  // Reports at `now`, the end of a flush interval.
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
