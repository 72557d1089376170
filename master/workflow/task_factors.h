// How much longer single tasks of a stage take than is expected of their kind.
#pragma once

#include <cstddef>
#include <vector>

#include "master/cost/task_times.h"

namespace tidemark::workflow {

// Of more tasks than this that wait not each is told apart: limits the cost of placing them.
inline constexpr std::size_t kToldApartMax = 256;

// By draw.
struct TaskFactors {
  // For running tasks and, unless there are too many, for waiting ones; empty: 1.
  std::vector<cost::Draws> of_task;
  cost::Draws of_others;  // of all that wait, if they are too many; empty: 1
};

}  // namespace tidemark::workflow
