#include "master/forecast/placement/dag.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tidemark::placement {
namespace {

absl::Status CheckParents(const Parents& parents) {
  for (std::size_t stage = 0; stage < parents.size(); ++stage) {
    for (const std::size_t parent : parents[stage]) {
      if (parent < parents.size()) continue;
      return absl::InvalidArgumentError(absl::StrCat("stage ", stage, " waits for stage ", parent,
                                                     ", but there are only ", parents.size()));
    }
  }
  return absl::OkStatus();
}

struct Sorted {
  std::vector<std::size_t> order;      // excludes stages in a cycle and their descendants
  std::vector<std::size_t> waits_for;  // by stage, the number of parents that are not in `order`
};

Sorted Sort(const Parents& parents) {
  const auto children = ChildrenOf(parents);
  Sorted sorted = {.waits_for = std::vector<std::size_t>(parents.size())};
  for (const auto& of_parent : children) {
    for (const std::size_t child : of_parent) ++sorted.waits_for[child];
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t stage = 0; stage < parents.size(); ++stage) {
    if (sorted.waits_for[stage] == 0) ready.push(stage);
  }
  while (!ready.empty()) {
    const std::size_t stage = ready.top();
    ready.pop();
    sorted.order.push_back(stage);
    for (const std::size_t child : children[stage]) {
      if (--sorted.waits_for[child] == 0) ready.push(child);
    }
  }
  return sorted;
}

}  // namespace

std::vector<std::vector<std::size_t>> ChildrenOf(const Parents& parents) {
  std::vector<std::vector<std::size_t>> children(parents.size());
  for (std::size_t stage = 0; stage < parents.size(); ++stage) {
    for (const std::size_t parent : parents[stage]) {
      std::vector<std::size_t>& of_parent = children[parent];
      // Stages are added in order, so a repeated edge is always the previous one.
      if (of_parent.empty() || of_parent.back() != stage) of_parent.push_back(stage);
    }
  }
  return children;
}

absl::StatusOr<std::vector<std::size_t>> TopologicalOrder(const Parents& parents) {
  if (absl::Status ok = CheckParents(parents); !ok.ok()) return ok;
  Sorted sorted = Sort(parents);
  if (sorted.order.size() == parents.size()) return std::move(sorted.order);
  return absl::InvalidArgumentError(
      absl::StrCat("stages form a cycle: ", absl::StrJoin(CycleOf(parents), " waits for ")));
}

std::vector<std::size_t> CycleOf(const Parents& parents) {
  const Sorted sorted = Sort(parents);
  if (sorted.order.size() == parents.size()) return {};
  // Every remaining stage waits for another remaining stage. Follows these stages until one
  // repeats.
  const auto is_left = [&](std::size_t stage) { return sorted.waits_for[stage] > 0; };
  std::size_t at = 0;
  while (!is_left(at)) ++at;
  std::vector<std::size_t> path;
  std::vector<bool> seen(parents.size());
  while (!seen[at]) {
    seen[at] = true;
    path.push_back(at);
    at = *std::find_if(parents[at].begin(), parents[at].end(), is_left);
  }
  path.push_back(at);
  path.erase(path.begin(), std::find(path.begin(), path.end(), at));
  return path;
}

}  // namespace tidemark::placement
