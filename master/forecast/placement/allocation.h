// The degree of parallelism ([BOE] 5.2.1), which is the number of tasks of each stage that run at
// once.
//
// A claim requests containers of one shape. The policy serves the claims until no container fits.
// Since containers are whole, eq. 6 of [BOE] (equal dominant shares) holds up to one container of
// each claim. Running containers are never taken back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "master/forecast/placement/dag.h"
#include "master/forecast/placement/node_share.h"

namespace tidemark::placement {

// The resources of a container, a node or a cluster. A resource that does not count is zero in
// every claim.
struct Resources {
  double cores = 0;
  double memory_bytes = 0;
  friend bool operator==(const Resources&, const Resources&) = default;
};

// Returns true if `container` fits into the free resources, with a tolerance for rounding.
bool Fits(const Resources& container, const Resources& free);

// Returns the largest of a claim's shares of the cluster; 0 for a container without any demand.
double DominantShare(const Resources& used, const Resources& capacity);

// The free resources may be negative for a moment if too many containers run.
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
  kFifo,      // in order of arrival, each in full
  kFair,      // the owner with the fewest containers first (max-min fair)
  kDrf,       // the owner with the least dominant share first
  kCapacity,  // the queue furthest below its share first
};

struct Cluster {
  Resources capacity;
  Policy policy = Policy::kDrf;
  std::vector<double> queue_shares;  // kCapacity: by queue, above 0; idle queues lend their shares
};

inline constexpr std::size_t kOwnOwner = static_cast<std::size_t>(-1);

// The claims are in order of arrival, which is also the order among claims of one owner or queue.
struct Claim {
  Resources container;
  std::uint64_t wanted = 0;       // tasks that are running or ready
  std::uint64_t running = 0;      // running containers, at most `wanted`
  std::size_t owner = kOwnOwner;  // kFair, kDrf: claims of one owner count as one; default: alone
  std::size_t queue = 0;          // kCapacity only
};

// Returns the containers of each claim, including `running`. Returns InvalidArgument if a capacity,
// demand or queue share is negative or not finite. Also returns it if a requested container has no
// demand or exceeds the cluster, or a queue has no share.
// Cost: O(containers log claims) for kFair, kDrf and kCapacity; O(claims) for kFifo.
absl::StatusOr<std::vector<std::uint64_t>> DegreesOfParallelism(const Cluster& cluster,
                                                                std::span<const Claim> claims);

// The remaining work of an application, and its cluster.

inline constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

// The remaining work of one stage. Times are seconds.
struct StageWork {
  std::vector<std::size_t> parents;  // indexes; a completed parent has no work
  std::size_t owner = 0;             // a workflow, or the stage alone; owners take turns
  Resources container = {.cores = 1};
  std::uint64_t pending = 0;  // tasks that have not started
  // The elapsed time of each running task, if the draw of its time depends on it.
  std::vector<double> running;
  // kFair and shared nodes count a container as this many tasks.
  std::uint64_t tasks_per_container = 1;
  double lag = 0;  // time from the end of the last parent to the first task
  std::uint64_t at_once_max =
      kNoLimit;  // limit of running tasks, even if slots are free (map slots)
  // Tasks that start before the end of the last parent hold their slots until then and start to
  // work afterwards. These are reduce tasks, which fetch the output of map tasks.
  bool waits_in_slots = false;
  // Use of the node by a task, on hosts with nodes (running_tasks.h). May be empty.
  TaskDemand demand;
};

// The cluster of an application. The policy of the cluster serves the owners. The stages of one
// owner are served in the order of their indexes. `queue_of_owner` is for kCapacity.
struct Resourcing {
  Cluster cluster;
  std::vector<std::size_t> queue_of_owner;
};

Parents ParentsOf(const std::vector<StageWork>& stages);

// Returns InvalidArgument for a cycle, an unknown parent, a container that does not fit the
// cluster, a time that is negative or not finite, or a policy without its queues.
absl::Status Check(const std::vector<StageWork>& stages, const Resourcing& on);

}  // namespace tidemark::placement
