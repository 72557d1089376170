#include "whatif/phases/what_if.h"

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
  std::vector<Known> known;
  std::vector<MeasuredTask> measured;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const RanStage& ran = stages[i];
    Known& stage = known.emplace_back();
    if (ran.tasks.empty()) continue;
    stage.stage = StageOf(ran.tasks, ran.next_tasks, ran.is_relocatable, settings);
    for (const TaskCounters& task : ran.tasks) {
      stage.mean_seconds += task.seconds / static_cast<double>(ran.tasks.size());
      measured.push_back(Measured(task, i, 0, WorkOf(task, stage.stage, settings)));
    }
  }
  auto costs = LearntCosts::Learn(measured, prior);
  if (!costs.ok()) return costs.status();
  return WhatIf(std::move(known), settings, *std::move(costs));
}

Changed WhatIf::On(std::size_t stage, const Settings& settings) const {
  Changed changed;
  if (settings == settings_) return changed;
  const auto& [base, mean_seconds] = stages_[stage];
  if (!(mean_seconds > 0)) {
    changed.deviation = kUnknownDeviation;
    return changed;
  }
  Stage other = base;
  other.size.intermediate.bytes *= IntermediateFactor(base, settings_, settings);
  const Work before = TaskOf(base, settings_).work();
  const Work difference = TaskOf(other, settings).work() + -1 * before;
  // Where the models explain less than was measured, the rest does not change with them.
  const double seconds = std::max(costs_.Predict(stage, before).seconds, mean_seconds);
  const Prediction change = costs_.Predict(stage, difference);
  changed.times = std::max(1 + change.seconds / seconds, kTimesMin);
  const double share = change.deviation / seconds / changed.times;
  changed.deviation = std::sqrt(std::log1p(share * share));  // as of a log-normal distribution
  const CostStatistics costs = costs_.Of(stage);
  for (std::size_t i = 0; i < kCosts; ++i) {
    const Cost cost = static_cast<Cost>(i);
    const double part = std::abs(difference[cost]) * costs[cost] / seconds;
    if (part > kWorthAWord && !costs_.IsToldApart(cost)) changed.untold.push_back(cost);
  }
  return changed;
}

}  // namespace tidemark::phases
