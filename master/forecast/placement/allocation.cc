#include "master/forecast/placement/allocation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

namespace tidemark::placement {
namespace {

// Relative rounding error of a sum of a million containers.
constexpr double kRoundingTolerance = 1e-9;

bool IsAmount(double value) { return std::isfinite(value) && value >= 0; }
bool IsValid(const Resources& r) { return IsAmount(r.cores) && IsAmount(r.memory_bytes); }

absl::Status CheckClaim(const Cluster& cluster, const Claim& claim, std::size_t index) {
  const Resources& container = claim.container;
  if (!IsValid(container) || (container.cores == 0 && container.memory_bytes == 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "claim ", index, ": a container needs cores or memory, both finite and not negative"));
  }
  if (!Fits(container, cluster.capacity)) {
    return absl::InvalidArgumentError(
        absl::StrCat("claim ", index, ": a container of ", container.cores, " cores and ",
                     container.memory_bytes, " bytes is larger than the cluster (",
                     cluster.capacity.cores, " cores, ", cluster.capacity.memory_bytes, " bytes)"));
  }
  if (claim.running > claim.wanted) {
    return absl::InvalidArgumentError(
        absl::StrCat("claim ", index, ": more containers are running than wanted"));
  }
  if (cluster.policy == Policy::kCapacity && claim.queue >= cluster.queue_shares.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("claim ", index, ": queue ", claim.queue, " has no share"));
  }
  return absl::OkStatus();
}

absl::Status Check(const Cluster& cluster, std::span<const Claim> claims) {
  if (!IsValid(cluster.capacity)) {
    return absl::InvalidArgumentError("the capacity must be finite and not negative");
  }
  for (const double share : cluster.queue_shares) {
    if (!std::isfinite(share) || share <= 0) {
      return absl::InvalidArgumentError("the share of a queue must be positive and finite");
    }
  }
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (claims[i].wanted == 0) continue;
    if (absl::Status ok = CheckClaim(cluster, claims[i], i); !ok.ok()) return ok;
  }
  return absl::OkStatus();
}

// Returns the number of further containers of this shape that fit.
std::uint64_t Room(const Resources& container, const Resources& free) {
  double room = INFINITY;
  if (container.cores > 0) room = std::min(room, free.cores / container.cores);
  if (container.memory_bytes > 0) {
    room = std::min(room, free.memory_bytes / container.memory_bytes);
  }
  room = std::floor(room * (1 + kRoundingTolerance) + kRoundingTolerance);
  return room <= 0 ? 0 : static_cast<std::uint64_t>(std::min(room, 1e18));
}

class Filling {
 public:
  Filling(const Cluster& cluster, std::span<const Claim> claims)
      : cluster_(cluster), claims_(claims), free_(cluster.capacity) {
    GroupClaims();
    granted_.resize(claims.size());
    for (std::size_t i = 0; i < claims.size(); ++i) Assign(i, claims[i].running);
  }

  std::vector<std::uint64_t> InOrder() {
    for (std::size_t i = 0; i < claims_.size(); ++i) Grant(i, Left(i));
    return std::move(granted_);
  }

  std::vector<std::uint64_t> ByTurns() {
    using Turn = std::pair<double, std::size_t>;
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
    for (std::size_t i = 0; i < claims_.size(); ++i) {
      if (Left(i) > 0) turns.emplace(Rank(i), i);
    }
    while (!turns.empty()) {
      const auto [rank, i] = turns.top();
      turns.pop();
      // Retry, since another claim of the group has changed the rank.
      if (const double now = Rank(i); now > rank) {
        turns.emplace(now, i);
        continue;
      }
      if (Grant(i, 1) && Left(i) > 0) turns.emplace(Rank(i), i);
    }
    return std::move(granted_);
  }

 private:
  std::uint64_t Left(std::size_t i) const { return claims_[i].wanted - granted_[i]; }

  // Groups the claims by owner or queue. The groups take turns.
  void GroupClaims() {
    absl::flat_hash_map<std::size_t, std::size_t> known;
    std::size_t groups = 0;
    for (const Claim& claim : claims_) {
      const bool queued = cluster_.policy == Policy::kCapacity;
      const std::size_t key = queued ? claim.queue : claim.owner;
      const bool alone = !queued && key == kOwnOwner;
      const std::size_t group = alone ? groups : known.try_emplace(key, groups).first->second;
      groups = std::max(groups, group + 1);
      group_of_.push_back(group);
    }
    used_.resize(groups);
    containers_.resize(groups);
  }

  double Rank(std::size_t i) const {
    const std::size_t group = group_of_[i];
    if (cluster_.policy == Policy::kFair) return static_cast<double>(containers_[group]);
    const double share = DominantShare(used_[group], cluster_.capacity);
    if (cluster_.policy == Policy::kDrf) return share;
    return share / cluster_.queue_shares[claims_[i].queue];
  }

  void Assign(std::size_t i, std::uint64_t containers) {
    const Resources taken = claims_[i].container * static_cast<double>(containers);
    free_ = free_ - taken;
    used_[group_of_[i]] = used_[group_of_[i]] + taken;
    containers_[group_of_[i]] += containers;
    granted_[i] += containers;
  }

  bool Grant(std::size_t i, std::uint64_t containers) {
    const std::uint64_t granted = std::min(containers, Room(claims_[i].container, free_));
    Assign(i, granted);
    return granted > 0;
  }

  const Cluster& cluster_;
  std::span<const Claim> claims_;
  Resources free_;
  std::vector<std::size_t> group_of_;
  std::vector<Resources> used_;            // by group
  std::vector<std::uint64_t> containers_;  // by group
  std::vector<std::uint64_t> granted_;
};

}  // namespace

bool Fits(const Resources& container, const Resources& free) { return Room(container, free) > 0; }

double DominantShare(const Resources& used, const Resources& capacity) {
  double share = 0;
  if (used.cores > 0) share = std::max(share, used.cores / capacity.cores);
  if (used.memory_bytes > 0) share = std::max(share, used.memory_bytes / capacity.memory_bytes);
  return share;
}

absl::StatusOr<std::vector<std::uint64_t>> DegreesOfParallelism(const Cluster& cluster,
                                                                std::span<const Claim> claims) {
  if (absl::Status ok = Check(cluster, claims); !ok.ok()) return ok;
  Filling filling(cluster, claims);
  return cluster.policy == Policy::kFifo ? filling.InOrder() : filling.ByTurns();
}

namespace {

bool IsTime(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

absl::Status CheckStage(const StageWork& stage, std::size_t index) {
  if (!IsTime(stage.lag) || !std::all_of(stage.running.begin(), stage.running.end(), IsTime)) {
    return absl::InvalidArgumentError(
        absl::StrCat("stage ", index, ": a time must be finite and not negative"));
  }
  return absl::OkStatus();
}

}  // namespace

Parents ParentsOf(const std::vector<StageWork>& stages) {
  Parents parents;
  parents.reserve(stages.size());
  for (const StageWork& stage : stages) parents.push_back(stage.parents);
  return parents;
}

absl::Status Check(const std::vector<StageWork>& stages, const Resourcing& on) {
  std::vector<Claim> claims;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageWork& stage = stages[i];
    if (absl::Status ok = CheckStage(stage, i); !ok.ok()) return ok;
    const std::uint64_t tasks = stage.pending > 0 || !stage.running.empty() ? 1 : 0;
    const std::size_t queue = stage.owner < on.queue_of_owner.size()
                                  ? on.queue_of_owner[stage.owner]
                                  : on.cluster.queue_shares.size();
    claims.push_back({.container = stage.container, .wanted = tasks, .queue = queue});
  }
  if (auto degrees = DegreesOfParallelism(on.cluster, claims); !degrees.ok()) {
    return degrees.status();
  }
  return TopologicalOrder(ParentsOf(stages)).status();
}

}  // namespace tidemark::placement
