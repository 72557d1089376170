// What of a workflow is still to be done, as the models of this folder take it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "master/schedule/allocation.h"
#include "master/workflow/dag.h"

namespace tidemark::workflow {

// One stage from now on. Seconds.
struct StageWork {
  std::vector<std::size_t> parents;  // indexes; a parent that is done is one without work
  std::size_t owner = 0;             // who is served by turns: a workflow, or each stage on its own
  schedule::Resources container = {.cores = 1};
  std::uint64_t pending = 0;    // tasks that have not started
  std::vector<double> running;  // for how long each running task has run
  double lag = 0;               // from the end of the last parent to the first task
};

// Where it runs. Owners are served by the cluster's policy, the stages of one owner in the order of
// their indexes; kCapacity: queue of each owner.
struct Resourcing {
  schedule::Cluster cluster;
  std::vector<std::size_t> queue_of_owner;
};

Parents ParentsOf(const std::vector<StageWork>& stages);

// InvalidArgument: a cycle, an unknown parent, a container that does not fit the cluster, a time
// that is negative or not finite, a policy without its queues.
absl::Status Check(const std::vector<StageWork>& stages, const Resourcing& on);

}  // namespace tidemark::workflow
