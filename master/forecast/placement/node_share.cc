#include "master/forecast/placement/node_share.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "master/forecast/placement/root.h"

namespace tidemark::placement {
namespace {

// Limits the rounds of redistribution. In every tested case with complete overlap, each round fixed
// at least one resource.
constexpr int kRoundsMax = 100;
constexpr double kStretchTolerance = 1e-9;  // relative change in a round
// Limit the search for the level of one resource.
constexpr int kSearchRoundsMax = 60;
constexpr double kUseTolerance = 1e-12;  // of the capacity

std::size_t IndexOf(Resource resource) { return static_cast<std::size_t>(resource); }

class Sharing {
 public:
  Sharing(double cores, double nodes, std::span<const NodeSharer> sharers) : sharers_(sharers) {
    capacity_.fill(nodes);
    capacity_[IndexOf(Resource::kCpu)] = cores;
    stretch_.fill(1);
  }

  // Computes the stretch of each resource.
  void Settle() {
    for (int round = 0; round < kRoundsMax; ++round) {
      double change = 0;
      for (std::size_t r = 0; r < kResources; ++r) change = std::max(change, SplitResource(r));
      if (change < kStretchTolerance) return;
    }
  }

  PartRate RateOf(std::size_t i) const {
    const TaskPart& part = sharers_[i].part;
    std::size_t scarcest = IndexOf(LongestNeed(part.needs));
    double longest = std::max(part.seconds, part.needs[IndexOf(Resource::kCpu)]);
    for (std::size_t r = 0; r < kResources; ++r) {
      if (!(stretch_[r] > 1) || !(part.needs[r] * stretch_[r] > longest)) continue;
      longest = part.needs[r] * stretch_[r];
      scarcest = r;
    }
    return {.per_second = 1 / SecondsWith(part, kResources, 1),
            .bottleneck = static_cast<Resource>(scarcest)};
  }

 private:
  static Resource LongestNeed(const Needs& needs) {
    return static_cast<Resource>(std::max_element(needs.begin(), needs.end()) - needs.begin());
  }

  // Returns the time of a unit of work if `resource` has this stretch. One task has one thread, so
  // it uses at most one core, and at most one node's disk or network.
  double SecondsWith(const TaskPart& part, std::size_t resource, double stretch) const {
    double longest = 0;
    double sum = 0;
    for (std::size_t r = 0; r < kResources; ++r) {
      const double seconds = part.needs[r] * (r == resource ? stretch : stretch_[r]);
      sum += seconds;
      longest = std::max(longest, seconds);
    }
    return std::max(part.seconds, longest + (1 - part.overlap) * (sum - longest));
  }

  // Returns the use of `resource` if no task uses it for more than this share of its time.
  double UseAt(std::size_t resource, double level) const {
    double use = 0;
    for (const NodeSharer& sharer : sharers_) {
      const double need = sharer.part.needs[resource];
      if (need > 0) use += sharer.tasks * need / SecondsWith(sharer.part, resource, 1 / level);
    }
    return use;
  }

  // Returns the level at which the tasks use a scarce resource completely. The use does not
  // decrease with the level.
  double SearchLevel(std::size_t resource, double tasks) const {
    const double capacity = capacity_[resource];
    const auto excess = [&](double level) { return UseAt(resource, level) - capacity; };
    return RootOf(excess, capacity / tasks, 1, kUseTolerance * capacity, kSearchRoundsMax);
  }

  // Sets the stretch of this resource. Returns its relative change.
  double SplitResource(std::size_t resource) {
    double tasks = 0;
    for (const NodeSharer& sharer : sharers_) {
      if (sharer.part.needs[resource] > 0) tasks += sharer.tasks;
    }
    const bool is_scarce = tasks > 0 && UseAt(resource, 1) > capacity_[resource];
    const double stretch = is_scarce ? 1 / SearchLevel(resource, tasks) : 1;
    const double old = std::exchange(stretch_[resource], stretch);
    return std::abs(stretch - old) / stretch;
  }

  std::span<const NodeSharer> sharers_;
  Needs capacity_ = {};
  // By resource, the time for which a task occupies it, relative to a task alone. At least 1.
  Needs stretch_ = {};
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
