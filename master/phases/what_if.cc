#include "master/phases/what_if.h"

#include <algorithm>
#include <cmath>

namespace tidemark::phases {
namespace {

// Of a stage without a model. Taste.
constexpr double kUnknownDeviation = 0.5;
// A task does not get shorter than this part: what the models know of it is not that good. Taste.
constexpr double kTimesMin = 0.05;
// Of the time of a task: what changes it less is not worth a word.
constexpr double kWorthAWord = 0.02;

// The shuffle that it reads was written with the same settings.
double IntermediateFactor(const Stage& stage, const Settings& from, const Settings& to) {
  return OfShuffle(to, stage.data).ratio / OfShuffle(from, stage.data).ratio;
}

}  // namespace

absl::StatusOr<WhatIf> WhatIf::Learn(std::vector<RanStage> stages, const Settings& settings,
                                     const CostStatistics& prior) {
  std::vector<Stage> models;
  std::vector<bool> is_known;
  std::vector<MeasuredTask> measured;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const RanStage& ran = stages[i];
    is_known.push_back(!ran.tasks.empty());
    models.push_back(ran.tasks.empty()
                         ? Stage{}
                         : StageOf(ran.tasks, ran.next_tasks, ran.is_relocatable, settings));
    for (const TaskCounters& task : ran.tasks) {
      measured.push_back(Measured(task, i, 0, WorkOf(task, models.back(), settings)));
    }
  }
  auto costs = LearntCosts::Learn(measured, prior);
  if (!costs.ok()) return costs.status();
  return WhatIf(std::move(models), std::move(is_known), settings, *std::move(costs));
}

Changed WhatIf::On(std::size_t stage, const Settings& settings) const {
  Changed changed;
  if (settings == settings_) return changed;
  const Stage& base = stages_[stage];
  if (!is_known_[stage]) {
    changed.deviation = kUnknownDeviation;
    return changed;
  }
  Stage other = base;
  other.size.intermediate.bytes *= IntermediateFactor(base, settings_, settings);
  const Work before = TaskOf(base, settings_).work();
  const Work difference = TaskOf(other, settings).work() + -1 * before;
  const double seconds = costs_.Predict(stage, before).seconds;
  if (!(seconds > 0)) return changed;
  const Prediction change = costs_.Predict(stage, difference);
  changed.times = std::max(1 + change.seconds / seconds, kTimesMin);
  changed.deviation = change.deviation / seconds;
  const CostStatistics costs = costs_.Of(stage);
  for (std::size_t i = 0; i < kCosts; ++i) {
    const Cost cost = static_cast<Cost>(i);
    const double part = std::abs(difference[cost]) * costs[cost] / seconds;
    if (part > kWorthAWord && !costs_.IsToldApart(cost)) changed.untold.push_back(cost);
  }
  return changed;
}

}  // namespace tidemark::phases
