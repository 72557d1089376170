#include "master/waits/stage.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "master/forecast/placement/dag.h"

namespace tidemark::blame {
namespace {

std::size_t Index(Stage stage) { return static_cast<std::size_t>(stage); }

absl::StatusOr<schedule::Parents> ParentsOf(std::span<const StageInfo> stages) {
  schedule::Parents parents(stages.size());
  for (std::size_t s = 0; s < stages.size(); ++s) {
    for (const Stage parent : stages[s].parents) {
      if (Index(parent) >= stages.size() || stages[Index(parent)].query != stages[s].query) {
        return absl::InvalidArgumentError(
            absl::StrCat("stage ", s, ": parent ", Index(parent), " is no stage of its query"));
      }
      parents[s].push_back(Index(parent));
    }
  }
  return parents;
}

}  // namespace

absl::StatusOr<std::vector<std::size_t>> Depths(std::span<const StageInfo> stages) {
  absl::StatusOr<schedule::Parents> parents = ParentsOf(stages);
  if (!parents.ok()) return parents.status();
  const auto order = schedule::TopologicalOrder(*parents);
  if (!order.ok()) return order.status();
  std::vector<std::size_t> depths(stages.size(), 1);
  for (auto s = order->rbegin(); s != order->rend(); ++s) {
    for (const std::size_t parent : (*parents)[*s]) {
      depths[parent] = std::max(depths[parent], depths[*s] + 1);
    }
  }
  return depths;
}

absl::StatusOr<std::vector<Stage>> CriticalPath(std::span<const StageInfo> stages,
                                                const Ledger& ledger, Query query) {
  absl::StatusOr<schedule::Parents> parents = ParentsOf(stages);
  if (!parents.ok()) return parents.status();
  const auto order = schedule::TopologicalOrder(*parents);
  if (!order.ok()) return order.status();
  std::vector<double> seconds(stages.size(), 0);
  for (const Stage stage : StagesOf(stages, query)) {
    const auto span = ledger.spans.find(stage);
    if (span != ledger.spans.end()) seconds[Index(stage)] = span->second.seconds();
  }
  std::vector<Stage> path;
  for (const std::size_t s : schedule::LongestPath(*parents, *order, seconds).stages) {
    if (stages[s].query == query) path.push_back(Stage{static_cast<std::uint32_t>(s)});
  }
  return path;
}

std::vector<Stage> StagesOf(std::span<const StageInfo> stages, Query query) {
  std::vector<Stage> of_query;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    if (stages[s].query == query) of_query.push_back(Stage{static_cast<std::uint32_t>(s)});
  }
  return of_query;
}

}  // namespace tidemark::blame
