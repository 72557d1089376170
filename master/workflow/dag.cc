#include "master/workflow/dag.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <string>

#include "absl/strings/str_cat.h"

namespace tidemark::workflow {
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

// Among stages that all still wait for one of themselves: follow parents until one comes again.
std::string CycleAmong(const Parents& parents, const std::vector<std::size_t>& waits_for) {
  std::size_t at = 0;
  while (waits_for[at] == 0) ++at;
  std::vector<std::size_t> path;
  std::vector<bool> seen(parents.size());
  while (!seen[at]) {
    seen[at] = true;
    path.push_back(at);
    at = *std::find_if(parents[at].begin(), parents[at].end(),
                       [&](std::size_t parent) { return waits_for[parent] > 0; });
  }
  std::string cycle = absl::StrCat(at);
  const auto begin = std::find(path.begin(), path.end(), at);
  for (auto stage = begin + 1; stage != path.end(); ++stage)
    absl::StrAppend(&cycle, " <- ", *stage);
  return absl::StrCat(cycle, " <- ", at);
}

}  // namespace

std::vector<std::vector<std::size_t>> ChildrenOf(const Parents& parents) {
  std::vector<std::vector<std::size_t>> children(parents.size());
  for (std::size_t stage = 0; stage < parents.size(); ++stage) {
    for (const std::size_t parent : parents[stage]) {
      std::vector<std::size_t>& of_parent = children[parent];
      // Stages come in order: a repeated edge is the one before.
      if (of_parent.empty() || of_parent.back() != stage) of_parent.push_back(stage);
    }
  }
  return children;
}

absl::StatusOr<std::vector<std::size_t>> TopologicalOrder(const Parents& parents) {
  if (absl::Status ok = CheckParents(parents); !ok.ok()) return ok;
  const auto children = ChildrenOf(parents);
  std::vector<std::size_t> waits_for(parents.size());
  for (const auto& of_parent : children) {
    for (const std::size_t child : of_parent) ++waits_for[child];
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t stage = 0; stage < parents.size(); ++stage) {
    if (waits_for[stage] == 0) ready.push(stage);
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t stage = ready.top();
    ready.pop();
    order.push_back(stage);
    for (const std::size_t child : children[stage]) {
      if (--waits_for[child] == 0) ready.push(child);
    }
  }
  if (order.size() == parents.size()) return order;
  return absl::InvalidArgumentError(
      absl::StrCat("stages wait for one another in a cycle: ", CycleAmong(parents, waits_for)));
}

CriticalPath LongestPath(const Parents& parents, std::span<const std::size_t> order,
                         std::span<const double> seconds) {
  std::vector<double> ends(parents.size());
  std::vector<std::optional<std::size_t>> before(parents.size());
  std::optional<std::size_t> last;
  for (const std::size_t stage : order) {
    double starts = 0;
    for (const std::size_t parent : parents[stage]) {
      if (before[stage] && ends[parent] <= starts) continue;
      starts = ends[parent];
      before[stage] = parent;
    }
    ends[stage] = starts + std::max(seconds[stage], 0.0);
    if (!last || ends[stage] > ends[*last]) last = stage;
  }
  CriticalPath path;
  if (!last) return path;
  path.seconds = ends[*last];
  for (std::optional<std::size_t> at = last; at; at = before[*at]) path.stages.push_back(*at);
  std::reverse(path.stages.begin(), path.stages.end());
  return path;
}

}  // namespace tidemark::workflow
