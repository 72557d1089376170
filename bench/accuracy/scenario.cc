#include "bench/accuracy/scenario.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "bench/accuracy/random.h"

namespace tidemark::bench {
namespace {

// --- Costs ---

void MultiplyCost(GroupCost& group, double factor) {
  for (float& seconds : group.seconds) seconds = static_cast<float>(seconds * factor);
}

// Returns the size below which the given share of all bytes lies.
std::uint64_t SizeQuantile(const CostLog& log, double share) {
  std::vector<std::uint64_t> sizes;
  double total_bytes = 0;
  for (const GroupCost& group : log.groups) {
    sizes.push_back(group.size_bytes);
    total_bytes += static_cast<double>(group.size_bytes);
  }
  std::sort(sizes.begin(), sizes.end());
  double bytes = 0;
  for (const std::uint64_t size : sizes) {
    bytes += static_cast<double>(size);
    if (bytes >= share * total_bytes) return size;
  }
  return 0;
}

// Keeps only the groups in `kept`, in the same order.
void KeepGroups(const std::vector<std::uint32_t>& kept, CostLog& log) {
  constexpr std::uint32_t kGone = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> place(log.groups.size(), kGone);
  std::vector<GroupCost> groups;
  groups.reserve(kept.size());
  std::map<std::uint32_t, Curve> curves;
  for (std::uint32_t i = 0; i < kept.size(); ++i) {
    place[kept[i]] = i;
    groups.push_back(log.groups[kept[i]]);
    if (const auto curve = log.curves.find(kept[i]); curve != log.curves.end()) {
      curves[i] = std::move(curve->second);
    }
  }
  for (auto& [count, partitions] : log.partitions) {
    std::vector<std::uint16_t> placed;
    placed.reserve(kept.size());
    for (const std::uint32_t group : kept) placed.push_back(partitions[group]);
    partitions = std::move(placed);
  }
  for (MapTaskLog& task : log.map_tasks) {
    for (GroupShare& share : task.shares) share.group = place[share.group];
    std::erase_if(task.shares, [](const GroupShare& share) { return share.group == kGone; });
    std::sort(task.shares.begin(), task.shares.end(),
              [](const GroupShare& a, const GroupShare& b) { return a.group < b.group; });
  }
  log.groups = std::move(groups);
  log.curves = std::move(curves);
}

std::vector<std::uint32_t> AllGroups(const CostLog& log) {
  std::vector<std::uint32_t> groups(log.groups.size());
  std::iota(groups.begin(), groups.end(), 0);
  return groups;
}

void HideModes(CostLog& log) {
  for (GroupCost& group : log.groups) {
    if (Scatter(static_cast<std::uint64_t>(group.key)) % 2 == 0) MultiplyCost(group, 4);
  }
}

// Hashing spreads the groups of the log evenly over all tasks, so the second half of the log forms
// the second half of every task.
void MakeSecondHalfDear(CostLog& log) {
  for (std::size_t i = log.groups.size() / 2; i < log.groups.size(); ++i) {
    MultiplyCost(log.groups[i], 4);
  }
}

void Bend(CostLog& log) {
  const std::uint64_t from = SizeQuantile(log, 0.9);
  for (GroupCost& group : log.groups) {
    if (group.size_bytes >= from) MultiplyCost(group, 3);
  }
}

// Multiplies costs by one to three, increasing over about two octaves around one size.
void BendSmoothly(CostLog& log) {
  const auto middle = static_cast<double>(std::max<std::uint64_t>(SizeQuantile(log, 0.9), 1));
  for (GroupCost& group : log.groups) {
    const double octaves = std::log2(std::max(static_cast<double>(group.size_bytes), 1.0) / middle);
    MultiplyCost(group, 1 + 2 / (1 + std::exp(-2 * octaves)));
  }
}

void SortBySize(CostLog& log) {
  std::vector<std::uint32_t> order = AllGroups(log);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return log.groups[a].size_bytes < log.groups[b].size_bytes;
  });
  KeepGroups(order, log);
}

void KeepFewGroups(CostLog& log) {
  constexpr std::size_t kKept = 60;
  std::vector<std::uint32_t> heaviest = AllGroups(log);
  const std::size_t kept = std::min(kKept, heaviest.size());
  std::stable_sort(heaviest.begin(), heaviest.end(), [&](std::uint32_t a, std::uint32_t b) {
    return log.groups[a].size_bytes > log.groups[b].size_bytes;
  });
  heaviest.resize(kept);
  std::sort(heaviest.begin(), heaviest.end());
  KeepGroups(heaviest, log);
}

// Makes the most expensive group cost as much as all other groups together. Its output grows by the
// same factor, and its size by the square root of that factor.
void MakeOneGiant(CostLog& log) {
  if (log.groups.empty()) return;
  const auto giant = std::max_element(
      log.groups.begin(), log.groups.end(),
      [](const GroupCost& a, const GroupCost& b) { return a.mean_seconds() < b.mean_seconds(); });
  const double others = log.total_seconds() - giant->mean_seconds();
  const double factor = others / giant->mean_seconds();
  const double growth = std::sqrt(factor);
  const auto times = [](auto number, double by) {
    return static_cast<decltype(number)>(static_cast<double>(number) * by);
  };
  const auto grown = [&](auto number) { return times(number, growth); };
  const auto index = static_cast<std::uint32_t>(giant - log.groups.begin());
  MultiplyCost(*giant, factor);
  giant->values = grown(giant->values);
  giant->emitted_bytes = times(giant->emitted_bytes, factor);
  giant->size_bytes = 0;
  for (MapTaskLog& task : log.map_tasks) {
    for (GroupShare& share : task.shares) {
      if (share.group != index) continue;
      share.size_bytes = grown(share.size_bytes);
      giant->size_bytes += share.size_bytes;
    }
  }
  if (const auto curve = log.curves.find(index); curve != log.curves.end()) {
    for (CurvePoint& point : curve->second) {
      point.bytes_read = std::min(grown(point.bytes_read), giant->size_bytes);
      point.values_read = grown(point.values_read);
      point.bytes_emitted = times(point.bytes_emitted, factor);
    }
  }
}

// --- Nodes ---

std::vector<NominalSpeed> OneSlowNode(std::uint32_t nodes, double /*phase_seconds*/) {
  std::vector<NominalSpeed> speeds(nodes);
  speeds.front().speed = 0.55;
  return speeds;
}

std::vector<NominalSpeed> HotNodes(std::uint32_t nodes, double phase_seconds) {
  std::vector<NominalSpeed> speeds(nodes);
  const std::uint32_t hot = std::max((nodes + 2) / 4, 1U);
  for (std::uint32_t i = 0; i < hot; ++i) {
    speeds[i].changes_at = 0.4 * phase_seconds;
    speeds[i].speed_after = 0.5;
  }
  return speeds;
}

// Returns nodes of which one is very slow. A second attempt that starts half-way finishes before
// the attempt on this node.
std::vector<NominalSpeed> OneVerySlowNode(std::uint32_t nodes, double /*phase_seconds*/) {
  std::vector<NominalSpeed> speeds(nodes);
  speeds.front().speed = 0.3;
  return speeds;
}

}  // namespace

std::vector<NominalSpeed> Scenario::SpeedsOf(std::uint32_t nodes, double phase_seconds) const {
  if (node_speeds == nullptr) return std::vector<NominalSpeed>(nodes);
  return node_speeds(nodes, phase_seconds);
}

const std::vector<Scenario>& AllScenarios() {
  static const std::vector<Scenario> scenarios = {
      {.name = "slow-node",
       .description = "one node has 0.55 of the speed of the others",
       .node_speeds = OneSlowNode},
      {.name = "hot-nodes",
       .description = "a quarter of the nodes drop to half their speed at 40 % of the phase",
       .node_speeds = HotNodes},
      {.name = "hidden-modes",
       .description =
           "half of the key groups cost four times as much, without an observable reason",
       .change_costs = HideModes},
      {.name = "phase-ab",
       .description = "the second half of each task's key groups cost four times as much",
       .change_costs = MakeSecondHalfDear},
      {.name = "bend",
       .description = "key groups above a size cost three times as much",
       .change_costs = Bend},
      {.name = "smooth-bend",
       .description = "costs rise gradually to three times as much over several octaves of size",
       .change_costs = BendSmoothly},
      {.name = "order-ascending",
       .description = "key groups are sorted by size, the largest last",
       .change_costs = SortBySize},
      {.name = "heavy-noise",
       .description = "log-normal noise of 0.5 on the cost of each key group",
       .cost_noise = 0.5},
      {.name = "few-keys",
       .description = "the input contains only the 60 largest key groups",
       .change_costs = KeepFewGroups},
      {.name = "one-giant",
       .description = "one key group costs as much as all others",
       .change_costs = MakeOneGiant},
      {.name = "many-tasks", .description = "1,000 reduce tasks at once", .slots = 1000},
      {.name = "lost-10", .description = "a tenth of all events is lost", .lost_events = 0.1},
      {.name = "lost-50", .description = "half of all events are lost", .lost_events = 0.5},
      {.name = "restart",
       .description = "a task fails half-way through its work and runs again",
       .task_fails = true},
      {.name = "speculation",
       .description =
           "the task that would end last, on a very slow node, gets a speculative attempt half-way",
       .node_speeds = OneVerySlowNode,
       .task_has_twin = true},
  };
  return scenarios;
}

absl::StatusOr<Scenario> FindScenario(const std::string& name) {
  if (name.empty()) return Scenario{};
  std::vector<std::string> names;
  for (const Scenario& scenario : AllScenarios()) {
    if (scenario.name == name) return scenario;
    names.push_back(scenario.name);
  }
  return absl::NotFoundError(
      fmt::format("no scenario \"{}\"; there are {}", name, fmt::join(names, ", ")));
}

}  // namespace tidemark::bench
