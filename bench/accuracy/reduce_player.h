// Plays one attempt at a reduce task: calls its task agent like the engine, at virtual times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "agent/reduce_recorder.h"
#include "bench/accuracy/cost_log.h"
#include "bench/accuracy/timeline.h"
#include "bench/accuracy/virtual_agent.h"

namespace tidemark::bench {

// A key group reads all records when it begins and emits everything when it ends, unless it has a
// curve.
class ReducePlayer {
 public:
  // `log`, `groups` (indices into it, one per group_ends of the attempt) and `attempt` must outlive
  // this object.
  ReducePlayer(const CostLog& log, std::span<const std::uint32_t> groups, const Attempt& attempt,
               const AgentOptions& options);

  // Plays all events up to `now`, which never decreases and is not before the attempt's start.
  void PlayUntil(double now);
  // Reports at the end of a flush interval at `now`.
  void Flush(double now);
  bool is_over() const { return over_; }
  VirtualAgent& agent() { return agent_; }

 private:
  // Returns the counters of the key group in progress.
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
