// What of an application is still to be done, and where it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "master/forecast/placement/allocation.h"
#include "master/forecast/placement/dag.h"

namespace tidemark::schedule {

inline constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

// One stage from now on. Seconds.
struct StageWork {
  std::vector<std::size_t> parents;  // indexes; a parent that is done is one without work
  std::size_t owner = 0;             // who is served by turns: a workflow, or each stage on its own
  Resources container = {.cores = 1};
  std::uint64_t pending = 0;  // tasks that have not started
  // One for each running task: for how long it has run, where the draw of its time needs that.
  std::vector<double> running;
  std::uint64_t tasks_per_container = 1;  // as so many containers kFair counts each of its own
  double lag = 0;                         // from the end of the last parent to the first task
  std::uint64_t at_once_max = kNoLimit;   // of its tasks, whatever else is free (map slots)
  // Tasks that start before the last parent has ended hold their slots until it has, and work from
  // then on: reduce tasks, which fetch what map tasks leave behind.
  bool waits_in_slots = false;
};

// Where it runs. Owners are served by the cluster's policy, the stages of one owner in the order of
// their indexes; kCapacity: queue of each owner.
struct Resourcing {
  Cluster cluster;
  std::vector<std::size_t> queue_of_owner;
};

Parents ParentsOf(const std::vector<StageWork>& stages);

// InvalidArgument: a cycle, an unknown parent, a container that does not fit the cluster, a time
// that is negative or not finite, a policy without its queues.
absl::Status Check(const std::vector<StageWork>& stages, const Resourcing& on);

}  // namespace tidemark::schedule
