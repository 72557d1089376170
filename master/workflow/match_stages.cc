#include "master/workflow/match_stages.h"

#include <string>
#include <tuple>

#include "absl/container/flat_hash_map.h"

namespace tidemark::workflow {

std::vector<std::optional<std::size_t>> MatchStages(std::span<const StageNow> now,
                                                    const WorkflowProfile& profile) {
  absl::flat_hash_map<std::string, std::vector<std::size_t>> by_name;
  for (std::size_t i = 0; i < profile.stages.size(); ++i) {
    by_name[profile.stages[i].name].push_back(i);
  }
  std::vector<std::optional<std::size_t>> matches(now.size());
  for (std::size_t i = 0; i < now.size(); ++i) {
    const auto named = by_name.find(now[i].name);
    if (named == by_name.end()) continue;
    std::vector<std::size_t>& left = named->second;
    const auto distance = [&](std::size_t other) {
      return std::tuple(profile.stages[other].tasks != now[i].tasks,
                        other > i ? other - i : i - other);
    };
    auto best = left.end();
    for (auto candidate = left.begin(); candidate != left.end(); ++candidate) {
      if (best == left.end() || distance(*candidate) < distance(*best)) best = candidate;
    }
    if (best == left.end()) continue;
    matches[i] = *best;
    left.erase(best);
  }
  return matches;
}

}  // namespace tidemark::workflow
