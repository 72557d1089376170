// A workflow as a directed acyclic graph of stages.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::schedule {

// By stage: the stages it waits for, as indexes. A parent named twice counts once.
using Parents = std::vector<std::vector<std::size_t>>;

// Every stage after its parents, the lower index first where both could be. InvalidArgument: a
// parent that does not exist; a cycle (names the stages of one). Cost: O((stages + edges) log
// stages).
absl::StatusOr<std::vector<std::size_t>> TopologicalOrder(const Parents& parents);

// The stages of one cycle, each waiting for the next, with the first one again at the end; empty:
// there is none. REQUIRES: parents exist. Cost: as above.
std::vector<std::size_t> CycleOf(const Parents& parents);

// For each stage those that wait for it. REQUIRES: parents exist. Cost: O(stages + edges).
std::vector<std::vector<std::size_t>> ChildrenOf(const Parents& parents);

// The chain of stages, first to last, that no other chain outlasts; ties go to the lower index.
// REQUIRES: `order` is topological. Negative durations count as zero. Cost: O(stages + edges).
struct CriticalPath {
  std::vector<std::size_t> stages;
  double seconds = 0;
};
CriticalPath LongestPath(const Parents& parents, std::span<const std::size_t> order,
                         std::span<const double> seconds);

}  // namespace tidemark::schedule
