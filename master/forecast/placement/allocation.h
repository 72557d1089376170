// How many tasks of each stage run at once: the degree of parallelism ([BOE] 5.2.1).
//
// A claim wants containers of one shape; a policy says whose turn it is until nothing fits any
// more. Containers are whole: eq. 6 of [BOE] (equal dominant shares) then holds up to one container
// of each claim. Containers that run already are never taken back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::schedule {

// Of a container, a node or a cluster. A resource that is not counted is zero in every claim.
struct Resources {
  double cores = 0;
  double memory_bytes = 0;
  friend bool operator==(const Resources&, const Resources&) = default;
};

// Whether `container` fits into what is free, forgiving the rounding of many additions.
bool Fits(const Resources& container, const Resources& free);

// The largest of a claim's shares of the cluster; 0 for a container without any demand.
double DominantShare(const Resources& used, const Resources& capacity);

// What is left of the cluster can be negative for a moment when containers run that should not.
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
  kFifo,      // in order of arrival, each as much as it wants
  kFair,      // the owner with the fewest containers first (max-min fair)
  kDrf,       // the owner with the least dominant share first
  kCapacity,  // the queue furthest below its share first
};

struct Cluster {
  Resources capacity;
  Policy policy = Policy::kDrf;
  std::vector<double> queue_shares;  // kCapacity: of each queue, above 0; idle queues lend theirs
};

inline constexpr std::size_t kOwnOwner = static_cast<std::size_t>(-1);

// In order of arrival, which is also the order among claims of one owner or queue.
struct Claim {
  Resources container;
  std::uint64_t wanted = 0;       // tasks that run or could run
  std::uint64_t running = 0;      // containers it has already, at most `wanted`
  std::size_t owner = kOwnOwner;  // kFair, kDrf: claims that count as one; without: on its own
  std::size_t queue = 0;          // kCapacity only
};

// Containers of each claim, `running` included. InvalidArgument: a capacity, demand or queue share
// that is negative or not finite, a container without any demand that is wanted, a container larger
// than the cluster, a queue without a share.
// Cost: O(containers log claims) for kFair, kDrf and kCapacity; O(claims) for kFifo.
absl::StatusOr<std::vector<std::uint64_t>> DegreesOfParallelism(const Cluster& cluster,
                                                                std::span<const Claim> claims);

}  // namespace tidemark::schedule
