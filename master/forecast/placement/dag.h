// A workflow as a directed acyclic graph of stages.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::placement {

// The parents of each stage, as indexes. Duplicates count once.
using Parents = std::vector<std::vector<std::size_t>>;

// Returns the stages in topological order; of two ready stages, the lower index is first.
// InvalidArgument: an unknown parent, or a cycle (the message names its stages). Cost: O((stages +
// edges) log stages).
absl::StatusOr<std::vector<std::size_t>> TopologicalOrder(const Parents& parents);

// Returns the stages of one cycle, each after a stage that waits for it; the first one is repeated
// at the end. Returns an empty vector if there is no cycle. REQUIRES: the parents exist. Cost: see
// TopologicalOrder().
std::vector<std::size_t> CycleOf(const Parents& parents);

// Returns the children of each stage. REQUIRES: the parents exist. Cost: O(stages + edges).
std::vector<std::vector<std::size_t>> ChildrenOf(const Parents& parents);

// Returns the longest chain of stages, first to last; on a tie, the one with the lower index.
// Negative durations count as zero. REQUIRES: `order` is topological. Cost: O(stages + edges).
struct CriticalPath {
  std::vector<std::size_t> stages;
  double seconds = 0;
};
CriticalPath LongestPath(const Parents& parents, std::span<const std::size_t> order,
                         std::span<const double> seconds);

}  // namespace tidemark::placement
