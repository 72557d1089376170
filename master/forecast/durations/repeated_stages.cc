#include "master/forecast/durations/repeated_stages.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace tidemark::gray_box {
namespace {

class Repeating {
 public:
  Repeating(const std::vector<RanStage>& ran, const std::map<std::uint64_t, std::uint32_t>& counts)
      : ran_(ran) {
    for (std::size_t i = 0; i < ran.size(); ++i) {
      std::vector<std::size_t>& turns = turns_[ran[i].work];
      turn_.push_back(turns.size());
      turns.push_back(i);
    }
    std::size_t all = ran.size();
    std::size_t added_edges = 0;
    for (const auto& [work, count] : counts) {
      const auto found = turns_.find(work);
      if (found == turns_.end() || work == 0) continue;
      const std::size_t wanted = std::clamp<std::size_t>(count, 1, kRepeatedStagesMax);
      if (wanted == found->second.size()) continue;
      wanted_[work] = wanted;
      all += wanted;
      const std::vector<std::size_t>& turns = found->second;
      if (wanted > turns.size())
        added_edges += (wanted - turns.size()) * ran[turns.back()].after.size();
    }
    if (all > kRepeatedStagesMax || added_edges > kAddedEdgesMax) wanted_.clear();
  }

  std::vector<RepeatedStage> Build() {
    for (std::size_t i = 0; i < ran_.size(); ++i) {
      if (!IsChanged(i) || turn_[i] < Wanted(i)) Add({.like = i});
    }
    for (const auto& [work, wanted] : wanted_) {
      const std::vector<std::size_t>& turns = turns_.at(work);
      for (std::size_t turn = turns.size(); turn < wanted; ++turn) {
        Add({.like = turns.back(), .turns_later = turn - turns.size() + 1});
      }
    }
    for (RepeatedStage& stage : stages_) {
      std::set<std::size_t> after;
      for (const std::size_t parent : ran_[stage.like].after) {
        if (const auto place = ParentOf(stage, parent)) after.insert(*place);
      }
      stage.after.assign(after.begin(), after.end());
    }
    return std::move(stages_);
  }

 private:
  bool IsChanged(std::size_t ran) const { return wanted_.contains(ran_[ran].work); }
  std::size_t Wanted(std::size_t ran) const { return wanted_.at(ran_[ran].work); }

  void Add(RepeatedStage stage) {
    places_[{ran_[stage.like].work, turn_[stage.like] + stage.turns_later}] = stages_.size();
    stages_.push_back(std::move(stage));
  }

  // Where what `stage` waits for is now, of what the one that it is like waited for.
  std::optional<std::size_t> ParentOf(const RepeatedStage& stage, std::size_t parent) const {
    std::size_t turn = turn_[parent];
    if (IsChanged(parent)) {
      const std::size_t wanted = Wanted(parent);
      if (IsChanged(stage.like)) {
        turn = std::min(turn + stage.turns_later, wanted - 1);
      } else {  // counted from the last
        const std::size_t from_the_end = turns_.at(ran_[parent].work).size() - turn;
        turn = wanted > from_the_end ? wanted - from_the_end : 0;
      }
    }
    const std::size_t place = places_.at({ran_[parent].work, turn});
    if (&stages_[place] == &stage) return std::nullopt;
    return place;
  }

  const std::vector<RanStage>& ran_;
  std::map<std::uint64_t, std::vector<std::size_t>> turns_;  // of each work
  std::vector<std::size_t> turn_;                            // of each stage in its work, from 0
  std::map<std::uint64_t, std::size_t> wanted_;              // of works that change
  std::map<std::pair<std::uint64_t, std::size_t>, std::size_t> places_;  // by work and turn
  std::vector<RepeatedStage> stages_;
};

// Whether each can run after those that it waits for.
bool CanRun(const std::vector<RepeatedStage>& stages) {
  std::vector<std::size_t> left;
  std::vector<std::vector<std::size_t>> behind(stages.size());
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    left.push_back(stages[i].after.size());
    for (const std::size_t parent : stages[i].after) behind[parent].push_back(i);
    if (left[i] == 0) ready.push_back(i);
  }
  std::size_t done = 0;
  while (!ready.empty()) {
    const std::size_t stage = ready.back();
    ready.pop_back();
    ++done;
    for (const std::size_t next : behind[stage]) {
      if (--left[next] == 0) ready.push_back(next);
    }
  }
  return done == stages.size();
}

}  // namespace

std::vector<RepeatedStage> Repeated(const std::vector<RanStage>& ran,
                                    const std::map<std::uint64_t, std::uint32_t>& counts) {
  std::vector<RepeatedStage> stages = Repeating(ran, counts).Build();
  // Where a stage is before turns of another and after them, the rules above can make a circle.
  return CanRun(stages) ? stages : Repeating(ran, {}).Build();
}

}  // namespace tidemark::gray_box
