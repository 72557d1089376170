#include "master/workflow/match_stages.h"

#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace tidemark::workflow {

namespace {

// Stages of an earlier run by their places, of which each is taken once.
class Places {
 public:
  void Add(std::size_t place) { places_.insert(places_.end(), place); }
  void Take(std::size_t place) { places_.erase(place); }
  // The nearest, the lower one of two.
  std::optional<std::size_t> Nearest(std::size_t to) const {
    const auto above = places_.lower_bound(to);
    if (above == places_.begin()) {
      return above == places_.end() ? std::nullopt : std::optional(*above);
    }
    const std::size_t below = *std::prev(above);
    return above == places_.end() || to - below <= *above - to ? below : *above;
  }

 private:
  std::set<std::size_t> places_;
};

}  // namespace

std::vector<std::optional<std::size_t>> MatchStages(std::span<const StageNow> now,
                                                    const RunProfile& profile) {
  absl::flat_hash_map<std::string, Places> of_name;
  absl::flat_hash_map<std::pair<std::string, std::uint64_t>, Places> of_name_and_tasks;
  for (std::size_t i = 0; i < profile.stages.size(); ++i) {
    of_name[profile.stages[i].name].Add(i);
    of_name_and_tasks[{profile.stages[i].name, profile.stages[i].tasks}].Add(i);
  }
  std::vector<std::optional<std::size_t>> matches(now.size());
  for (std::size_t i = 0; i < now.size(); ++i) {
    const auto named = of_name.find(now[i].name);
    if (named == of_name.end()) continue;
    const auto alike = of_name_and_tasks.find({now[i].name, now[i].tasks});
    if (alike != of_name_and_tasks.end()) matches[i] = alike->second.Nearest(i);
    if (!matches[i]) matches[i] = named->second.Nearest(i);
    if (!matches[i]) continue;
    named->second.Take(*matches[i]);
    of_name_and_tasks[{now[i].name, profile.stages[*matches[i]].tasks}].Take(*matches[i]);
  }
  return matches;
}

}  // namespace tidemark::workflow
