#include "cli/spark_repeats.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace tidemark::cli {
namespace {

// A stage among those that do the same.
struct Place {
  std::uint64_t work = 0;
  std::size_t turn = 0;  // from 0
};

class Repeating {
 public:
  Repeating(const std::vector<PlannedStage>& stages, const std::vector<std::uint64_t>& works,
            const std::map<std::uint64_t, std::uint32_t>& counts) {
    for (std::size_t i = 0; i < stages.size(); ++i) {
      std::vector<PlannedStage>& turns = turns_[works[i]];
      places_[stages[i].name] = {works[i], turns.size()};
      turns.push_back(stages[i]);
    }
    for (const auto& [work, count] : counts) {
      const auto found = turns_.find(work);
      if (found == turns_.end()) continue;
      const std::size_t wanted = std::clamp<std::size_t>(count, 1, kRepeatedStagesMax);
      if (wanted != found->second.size()) wanted_[work] = wanted;
    }
    std::size_t all = stages.size();
    for (const auto& [work, wanted] : wanted_) all += wanted;
    if (all > kRepeatedStagesMax) wanted_.clear();
  }

  bool IsChanged(std::uint64_t work) const { return wanted_.contains(work); }
  bool IsLeftOut(const PlannedStage& stage) const {
    const Place place = places_.at(stage.name);
    const auto wanted = wanted_.find(place.work);
    return wanted != wanted_.end() && place.turn >= wanted->second;
  }

  // What an unchanged stage waits for: turns counted from the last.
  std::vector<std::string> FromTheEnd(const std::vector<std::string>& after) const {
    return Moved(after, [this](const Place& place) {
      const auto size = static_cast<std::ptrdiff_t>(turns_.at(place.work).size());
      const auto wanted = static_cast<std::ptrdiff_t>(wanted_.at(place.work));
      return std::max<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(place.turn) + wanted - size, 0);
    });
  }

  // The stages that are to be there beside those that were.
  void Add(std::vector<PlannedStage>& stages) const {
    for (const auto& [work, wanted] : wanted_) {
      const std::vector<PlannedStage>& turns = turns_.at(work);
      for (std::size_t turn = turns.size(); turn < wanted; ++turn) {
        PlannedStage added = turns.back();
        added.name = NameOf({work, turn});
        const auto later = static_cast<std::ptrdiff_t>(turn - turns.size() + 1);
        added.after = Moved(added.after, [later](const Place& place) {
          return static_cast<std::ptrdiff_t>(place.turn) + later;
        });
        stages.push_back(std::move(added));
      }
    }
  }

 private:
  std::string NameOf(const Place& place) const {
    const std::vector<PlannedStage>& turns = turns_.at(place.work);
    if (place.turn < turns.size()) return turns[place.turn].name;
    return fmt::format("{} (+{})", turns.back().name, place.turn - turns.size() + 1);
  }

  // Those of works that change by `turn_of`, the others as they are.
  template <typename TurnOf>
  std::vector<std::string> Moved(const std::vector<std::string>& after,
                                 const TurnOf& turn_of) const {
    std::set<std::string> moved;
    for (const std::string& name : after) {
      const auto place = places_.find(name);
      if (place == places_.end() || !IsChanged(place->second.work)) {
        moved.insert(name);
        continue;
      }
      const auto turn = static_cast<std::size_t>(turn_of(place->second));
      if (turn < wanted_.at(place->second.work)) moved.insert(NameOf({place->second.work, turn}));
    }
    return {moved.begin(), moved.end()};
  }

  std::map<std::uint64_t, std::vector<PlannedStage>> turns_;
  std::map<std::string, Place> places_;
  std::map<std::uint64_t, std::size_t> wanted_;  // of works that change
};

}  // namespace

std::vector<PlannedStage> Repeated(std::vector<PlannedStage> stages,
                                   const std::vector<std::uint64_t>& works,
                                   const std::map<std::uint64_t, std::uint32_t>& counts) {
  const Repeating repeating(stages, works, counts);
  std::vector<PlannedStage> repeated;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (repeating.IsLeftOut(stages[i])) continue;
    PlannedStage& stage = repeated.emplace_back(std::move(stages[i]));
    if (!repeating.IsChanged(works[i])) stage.after = repeating.FromTheEnd(stage.after);
  }
  repeating.Add(repeated);
  return repeated;
}

}  // namespace tidemark::cli
