// Runs measured task times on a virtual cluster, slot by slot. This simulator is separate, so that
// estimates are not evaluated by their own code.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/workflow/trace.h"

namespace tidemark::bench {

struct MeasuredStage {
  std::string name;
  std::vector<std::size_t> parents;  // have lower indexes
  std::size_t owner = 0;
  std::vector<double> seconds;  // durations of its tasks, in starting order
};

// Runs the stages. kFifo selects the lowest owner, then the lowest stage. kFair and kDrf (all
// containers are equal here) select the owner with the fewest running tasks, then its lowest stage.
Trace RunOnVirtualCluster(const std::vector<MeasuredStage>& stages, std::size_t slots,
                          placement::Policy policy);

}  // namespace tidemark::bench
