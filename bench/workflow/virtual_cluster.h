// Runs measured task times on a virtual cluster. The simulator shares no code with the estimates,
// since they must not be evaluated by their own code.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/workflow/trace.h"

namespace tidemark::bench {

struct MeasuredStage {
  std::string name;
  std::vector<std::size_t> parents;  // parents have lower indexes than the stage
  std::size_t owner = 0;
  std::vector<double> seconds;  // durations of the stage's tasks, in the order in which they start
};

// Runs the stages. kFifo selects the lowest owner and then its lowest stage. kFair and kDrf, which
// are equal here since all containers are equal, select the owner with the fewest running tasks and
// then its lowest stage.
Trace RunOnVirtualCluster(const std::vector<MeasuredStage>& stages, std::size_t slots,
                          placement::Policy policy);

}  // namespace tidemark::bench
