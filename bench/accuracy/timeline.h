// What truly happens in a simulated reduce phase: which attempt runs where, and when each of its
// key groups ends. Seconds from the start of the phase.
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
  std::uint32_t slot = 0;  // and node: each node has one
  bool speculative = false;
  double start = 0;
  double end = 0;                                  // when it ended, whatever the outcome
  AttemptState outcome = AttemptState::kFinished;  // or kFailed, kKilled
  std::vector<double> group_ends;                  // as they are, or would have been

  AttemptId id() const { return {kReduceStage, task, number}; }
};

struct Timeline {
  std::vector<Attempt> attempts;  // by start, as far as they are first attempts
  double end = 0;                 // of the last task
};

struct TimelineOptions {
  bool task_fails = false;  // task `failing_task`, half-way through its work
  std::uint32_t failing_task = 0;
  bool task_has_twin = false;  // the task that ends last, from half-way through its time
};

// Greedy: the next task, in order, goes to the slot that is free first; of several to the first.
Timeline Schedule(const Workload& workload, std::vector<Node>& nodes,
                  const TimelineOptions& options);

}  // namespace tidemark::bench
