// The truth of a simulated reduce phase: where attempts run, and when their key groups end. Seconds
// from the start of the phase.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/accuracy/node.h"
#include "bench/accuracy/workload.h"
#include "tidemark/event.h"

namespace tidemark::bench {

struct Attempt {
  std::uint32_t task = 0;
  std::uint32_t number = 0;
  std::uint32_t slot = 0;  // also the node: each node has one slot
  bool speculative = false;
  double start = 0;
  double end = 0;                                  // its end with any outcome
  AttemptState outcome = AttemptState::kFinished;  // or kFailed, kKilled
  std::vector<double> group_ends;                  // real, or hypothetical after a failure

  AttemptId id() const { return {kReduceStage, task, number}; }
};

struct Timeline {
  std::vector<Attempt> attempts;  // first attempts are sorted by start
  double end = 0;                 // end of the last task
};

struct TimelineOptions {
  bool task_fails = false;  // task `failing_task` fails half-way
  std::uint32_t failing_task = 0;
  bool task_has_twin = false;  // the last task has a second attempt from half-way on
};

// Greedy: assigns the next task to the slot that is free first, and to the first of several.
Timeline Schedule(const Workload& workload, std::vector<Node>& nodes,
                  const TimelineOptions& options);

}  // namespace tidemark::bench
