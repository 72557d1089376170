#include "master/forecast/placement/node_share.h"

#include <algorithm>
#include <cmath>

namespace tidemark::placement {
namespace {

// Limits the rounds of redistribution. In every tested case, each round fixed at least one
// resource.
constexpr int kRoundsMax = 100;
constexpr double kRateTolerance = 1e-12;  // relative change of a rate

std::size_t IndexOf(Resource resource) { return static_cast<std::size_t>(resource); }

class Sharing {
 public:
  Sharing(double cores, double nodes, std::span<const NodeSharer> sharers) : sharers_(sharers) {
    capacity_.fill(nodes);
    capacity_[IndexOf(Resource::kCpu)] = cores;
    limits_.resize(sharers.size());
    for (std::size_t i = 0; i < sharers.size(); ++i) {
      limits_[i].fill(INFINITY);
      // A task has one thread, so it uses at most one core.
      const double least = std::max(sharers[i].part.seconds, Need(i, IndexOf(Resource::kCpu)));
      alone_.push_back(least > 0 ? 1 / least : INFINITY);
    }
  }

  // Computes the limit of each resource on each sharer.
  void Settle() {
    for (int round = 0; round < kRoundsMax; ++round) {
      double change = 0;
      for (std::size_t r = 0; r < kResources; ++r) change = std::max(change, SplitResource(r));
      if (change < kRateTolerance) return;
    }
  }

  PartRate RateOf(std::size_t i) const {
    const auto tightest = std::min_element(limits_[i].begin(), limits_[i].end());
    const bool is_scarce = *tightest < alone_[i];
    return {.per_second = RateElsewhere(i, kResources),
            .bottleneck = is_scarce ? static_cast<Resource>(tightest - limits_[i].begin())
                                    : LongestNeed(sharers_[i].part.needs)};
  }

 private:
  struct Wish {
    double use;  // use by one task, if only other resources limited it
    double tasks;
  };

  double Need(std::size_t i, std::size_t resource) const {
    return sharers_[i].part.needs[resource];
  }

  static Resource LongestNeed(const Needs& needs) {
    return static_cast<Resource>(std::max_element(needs.begin(), needs.end()) - needs.begin());
  }

  double RateElsewhere(std::size_t i, std::size_t resource) const {
    double rate = alone_[i];
    for (std::size_t r = 0; r < kResources; ++r) {
      if (r != resource) rate = std::min(rate, limits_[i][r]);
    }
    return rate;
  }

  // Returns how much of a scarce resource each task gets that could use more.
  double LevelOf(double capacity) {
    std::sort(wishes_.begin(), wishes_.end(),
              [](const Wish& a, const Wish& b) { return a.use < b.use; });
    double left = capacity;
    double tasks_left = 0;
    for (const Wish& wish : wishes_) tasks_left += wish.tasks;
    for (const Wish& wish : wishes_) {
      if (wish.use * tasks_left > left) return left / tasks_left;
      left -= wish.use * wish.tasks;
      tasks_left -= wish.tasks;
    }
    return INFINITY;
  }

  // Sets every sharer's limit on this resource. Returns the largest relative change.
  double SplitResource(std::size_t resource) {
    wishes_.clear();
    double use = 0;
    for (std::size_t i = 0; i < sharers_.size(); ++i) {
      if (Need(i, resource) == 0 || sharers_[i].tasks == 0) continue;
      wishes_.push_back({RateElsewhere(i, resource) * Need(i, resource), sharers_[i].tasks});
      use += wishes_.back().use * sharers_[i].tasks;
    }
    const double level = use > capacity_[resource] ? LevelOf(capacity_[resource]) : INFINITY;
    double change = 0;
    for (std::size_t i = 0; i < sharers_.size(); ++i) {
      if (Need(i, resource) == 0) continue;
      const double limit = level / Need(i, resource);
      double& old = limits_[i][resource];
      if (limit != old)
        change = std::max(change, std::isinf(old - limit) ? 1 : std::abs(limit - old) / limit);
      old = limit;
    }
    return change;
  }

  std::span<const NodeSharer> sharers_;
  Needs capacity_ = {};
  std::vector<double> alone_;  // the rate of a task with all resources to itself
  std::vector<Needs> limits_;
  std::vector<Wish> wishes_;
};

}  // namespace

std::vector<PartRate> ShareNode(double cores, double nodes, std::span<const NodeSharer> sharers) {
  Sharing sharing(cores, nodes, sharers);
  sharing.Settle();
  std::vector<PartRate> rates;
  rates.reserve(sharers.size());
  for (std::size_t i = 0; i < sharers.size(); ++i) rates.push_back(sharing.RateOf(i));
  return rates;
}

}  // namespace tidemark::placement
