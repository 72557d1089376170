// How much longer single tasks of a stage take than is expected of their kind.
#pragma once

#include <cstddef>
#include <vector>

#include "master/forecast/durations/task_times.h"

namespace tidemark::workflow {

// Of more tasks than this that wait not each is told apart: limits the cost of placing them.
inline constexpr std::size_t kToldApartMax = 256;

// By draw. Empty: 1.
struct TaskFactors {
  std::vector<cost::Draws> of_running;
  std::vector<cost::Draws> of_waiting;  // in the order in which they will start, over kRest
  cost::Draws of_others;                // of all that wait, if they are too many to tell apart
};

}  // namespace tidemark::workflow
