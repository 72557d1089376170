// A workflow as a directed acyclic graph of stages.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::placement {

// The parents of each stage, as indexes. Duplicates count once.
using Parents = std::vector<std::vector<std::size_t>>;

// Returns the stages in topological order. The lower index of two ready stages is first. Fails
// with InvalidArgument for an unknown parent, or for a cycle (the message names its stages).
// O((stages + edges) log stages).
absl::StatusOr<std::vector<std::size_t>> TopologicalOrder(const Parents& parents);

// Returns the stages of one cycle, each after a stage that waits for it. The first stage is
// repeated at the end. Returns an empty vector if there is no cycle. REQUIRES: the parents exist.
// Costs as much as TopologicalOrder().
std::vector<std::size_t> CycleOf(const Parents& parents);

// Returns the children of each stage. REQUIRES: the parents exist. O(stages + edges).
std::vector<std::vector<std::size_t>> ChildrenOf(const Parents& parents);

}  // namespace tidemark::placement
