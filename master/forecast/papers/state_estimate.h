// The end of a workflow, state by state ([BOE] section 5, Algorithm 1).
//
// Within a state every stage keeps its degree of parallelism; a state ends when a stage ends or
// becomes ready. All tasks of a stage are taken to be equally long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "master/forecast/placement/stage_work.h"

namespace tidemark::papers {

enum class StageTimeForm {
  // Eq. 7: t_task (1 - min progress + ceil(pending / degree)). Charges a whole task for a wave that
  // has only begun, which overshoots where stages run side by side.
  kPrinted,
  // Work left over degree, but at least what the youngest running task needs and, while tasks are
  // pending, a whole one. Safer, and what Tidemark falls back to.
  kFluid,
};

struct State {
  double seconds = 0;
  std::vector<std::size_t> stages;     // that ran in it, by index
  std::vector<std::uint64_t> degrees;  // of each of them
};

struct StateEstimate {
  double seconds = 0;         // from now to the end of the last stage
  std::vector<double> ends;   // of each stage, seconds from now; 0: without work
  std::vector<State> states;  // in order
};

// `task_seconds`: of each stage (BOE's task model, or the mean or median of a profile). Errors:
// those of Check(); a task time that is negative or not finite; as many times as stages are needed.
// Cost: O(states x ready stages log), at most two states for each stage, plus the cost of sharing
// out the cluster in each.
absl::StatusOr<StateEstimate> EstimateByStates(const std::vector<schedule::StageWork>& stages,
                                               std::span<const double> task_seconds,
                                               const schedule::Resourcing& on, StageTimeForm form);

}  // namespace tidemark::papers
