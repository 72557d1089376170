// Estimates the end of a workflow, state by state ([BOE] section 5, Algorithm 1).
//
// Within a state every stage keeps its degree of parallelism. A state ends when a stage ends or
// becomes ready. All tasks of a stage have the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "master/forecast/placement/allocation.h"

namespace tidemark::papers {

enum class StageTimeForm {
  // [BOE] eq. 7: t_task (1 - min progress + ceil(pending / degree)). It charges a whole task for a
  // wave that has only just begun, which is too long if stages run concurrently.
  kPrinted,
  // Remaining work over degree, but at least the remaining time of the youngest running task and,
  // while tasks are pending, a whole task. This form is more accurate than the printed one.
  kFluid,
};

struct State {
  double seconds = 0;
  std::vector<std::size_t> stages;     // running stages, by index
  std::vector<std::uint64_t> degrees;  // degree of parallelism of each running stage
};

struct StateEstimate {
  double seconds = 0;         // seconds from now to the end of the last stage
  std::vector<double> ends;   // end of each stage in seconds from now; 0 if no work remains
  std::vector<State> states;  // in order
};

// Returns the estimate. `task_seconds` is the task time of each stage (from BOE's task model, or
// the mean or median of a profile). Fails like Check(), and also if a task time is negative or not
// finite, or the numbers of times and stages differ. O(s r log r) for s states and r ready stages,
// plus the cost of DegreesOfParallelism() in each state. There are at most two states per stage.
absl::StatusOr<StateEstimate> EstimateByStates(const std::vector<placement::StageWork>& stages,
                                               std::span<const double> task_seconds,
                                               const placement::Resourcing& on, StageTimeForm form);

}  // namespace tidemark::papers
