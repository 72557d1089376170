#include "master/forecast/dag/match_stages.h"

#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

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

// By what stages are recognised: those of the profile that have no name, by their work.
std::string NameOf(const std::string& name, std::uint64_t work) {
  return name.empty() && work != 0 ? WorkKey(work, name) : name;
}

}  // namespace

std::string WorkKey(std::uint64_t work, const std::string& name) {
  return work != 0 ? absl::StrCat("#", absl::Hex(work)) : name;
}

std::vector<std::optional<std::size_t>> MatchStages(std::span<const StageNow> now,
                                                    const RunProfile& profile) {
  absl::flat_hash_map<std::string, Places> of_name;
  absl::flat_hash_map<std::pair<std::string, std::uint64_t>, Places> of_name_and_tasks;
  const auto name_of = [&](std::size_t place) {
    return NameOf(profile.stages[place].name, profile.stages[place].work);
  };
  for (std::size_t i = 0; i < profile.stages.size(); ++i) {
    of_name[name_of(i)].Add(i);
    of_name_and_tasks[{name_of(i), profile.stages[i].tasks}].Add(i);
  }
  std::vector<std::optional<std::size_t>> matches(now.size());
  const auto match = [&](std::size_t i, const std::string& name) {
    const auto named = of_name.find(name);
    if (named == of_name.end()) return;
    const auto alike = of_name_and_tasks.find({name, now[i].tasks});
    if (alike != of_name_and_tasks.end()) matches[i] = alike->second.Nearest(i);
    if (!matches[i]) matches[i] = named->second.Nearest(i);
    if (!matches[i]) return;
    named->second.Take(*matches[i]);
    of_name_and_tasks[{name, profile.stages[*matches[i]].tasks}].Take(*matches[i]);
  };
  for (std::size_t i = 0; i < now.size(); ++i) {
    match(i, NameOf(now[i].name, now[i].work));
    if (!matches[i] && now[i].work != 0) match(i, NameOf("", now[i].work));
  }
  return matches;
}

}  // namespace tidemark::workflow
