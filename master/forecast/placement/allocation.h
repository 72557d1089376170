// The degree of parallelism ([BOE] 5.2.1): the number of tasks of each stage that run at once.
//
// A claim requests containers of one shape. The policy serves the claims until no container fits.
// Since containers are whole, eq. 6 of [BOE] (equal dominant shares) holds up to one container per
// claim. Running containers are never preempted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "master/forecast/placement/dag.h"
#include "master/forecast/placement/node_share.h"

namespace tidemark::placement {

// The resources of a container, a node or a cluster. A resource that is ignored is zero in every
// claim.
struct Resources {
  double cores = 0;
  double memory_bytes = 0;
  friend bool operator==(const Resources&, const Resources&) = default;
};

// Returns true if `container` fits into the free resources, with a tolerance for rounding.
bool Fits(const Resources& container, const Resources& free);

// Returns the largest of a claim's shares of the cluster, or 0 for a container without demand.
double DominantShare(const Resources& used, const Resources& capacity);

// Free resources are negative while too many containers run.
inline Resources operator-(const Resources& a, const Resources& b) {
  return {a.cores - b.cores, a.memory_bytes - b.memory_bytes};
}
inline Resources operator+(const Resources& a, const Resources& b) {
  return {a.cores + b.cores, a.memory_bytes + b.memory_bytes};
}
inline Resources operator*(const Resources& a, double times) {
  return {a.cores * times, a.memory_bytes * times};
}

enum class Policy {
  kFifo,      // claims in order of arrival, each in full
  kFair,      // the owner with the fewest containers first (max-min fair)
  kDrf,       // the owner with the least dominant share first
  kCapacity,  // the queue furthest below its share first
};

struct Cluster {
  Resources capacity;
  Policy policy = Policy::kDrf;
  std::vector<double> queue_shares;  // kCapacity: by queue, positive; idle queues lend their shares
};

inline constexpr std::size_t kOwnOwner = static_cast<std::size_t>(-1);

// Claims are in order of arrival, which is also the order among claims of one owner or queue.
struct Claim {
  Resources container;
  std::uint64_t wanted = 0;   // tasks that are running or ready
  std::uint64_t running = 0;  // running containers, at most `wanted`
  // kFair, kDrf: claims of one owner count as one; by default each claim has its own
  std::size_t owner = kOwnOwner;
  std::size_t queue = 0;  // for kCapacity only
};

// Returns the containers of each claim, including `running`. Fails with InvalidArgument if a
// capacity, demand or queue share is negative or not finite, if a requested container has no demand
// or exceeds the cluster, or if a queue has no share. O(containers log claims) for kFair, kDrf and
// kCapacity; O(claims) for kFifo.
absl::StatusOr<std::vector<std::uint64_t>> DegreesOfParallelism(const Cluster& cluster,
                                                                std::span<const Claim> claims);

// The remaining work of an application, and its cluster.

inline constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

// The remaining work of one stage. Times are in seconds.
struct StageWork {
  std::vector<std::size_t> parents;  // indexes; a completed parent has no work
  std::size_t owner = 0;             // Workflow, or the stage alone. Owners take turns.
  Resources container = {.cores = 1};
  std::uint64_t pending = 0;  // tasks that have not started
  // The elapsed time of each running task. Only needed if the draw of its time depends on it.
  std::vector<double> running;
  // kFair and shared nodes count a container as this many tasks.
  std::uint64_t tasks_per_container = 1;
  double lag = 0;  // time from the end of the last parent to the first task
  std::uint64_t at_once_max =
      kNoLimit;  // limit of running tasks, even if more slots are free (map slots)
  // True for reduce tasks, which fetch the output of map tasks. If they start before the end of the
  // last parent, they hold their slots until then and begin their work afterwards.
  bool waits_in_slots = false;
  // A task's use of the node, for hosts with nodes (running_tasks.h). May be empty.
  TaskDemand demand;
};

// The cluster of an application. The policy of the cluster serves the owners. The stages of one
// owner are served in the order of their indexes. Only kCapacity uses `queue_of_owner`.
struct Resourcing {
  Cluster cluster;
  std::vector<std::size_t> queue_of_owner;
};

Parents ParentsOf(const std::vector<StageWork>& stages);

// Returns InvalidArgument for a cycle, an unknown parent, a container that does not fit the
// cluster, a time that is negative or not finite, or a policy without its queues.
absl::Status Check(const std::vector<StageWork>& stages, const Resourcing& on);

}  // namespace tidemark::placement
