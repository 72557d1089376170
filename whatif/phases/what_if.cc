#include "whatif/phases/what_if.h"

#include <algorithm>
#include <cmath>

namespace tidemark::phases {
namespace {

// The deviation of a stage without a model. Chosen by hand.
constexpr double kUnknownStageDeviation = 0.5;
// Lower limit of the factor on a task's time, since the models are not more precise. Chosen by
// hand.
constexpr double kTimesMin = 0.05;
// The smallest share of a task's time for which an undetermined cost is reported.
constexpr double kReportedShare = 0.02;

// Returns the size ratio of the shuffle that the stage reads, which the same settings wrote.
double IntermediateFactor(const Stage& stage, const Settings& from, const Settings& to) {
  return OfShuffle(to, stage.data).ratio / OfShuffle(from, stage.data).ratio;
}

}  // namespace

absl::StatusOr<WhatIf> WhatIf::Learn(std::vector<PastStage> stages, const Settings& settings,
                                     const CostStatistics& prior) {
  std::vector<Known> known;
  std::vector<MeasuredTask> measured;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const PastStage& ran = stages[i];
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

StageChange WhatIf::On(std::size_t stage, const Settings& settings) const {
  StageChange result;
  if (settings == settings_) return result;
  const auto& [base, mean_seconds] = stages_[stage];
  if (!(mean_seconds > 0)) {
    result.deviation = kUnknownStageDeviation;
    return result;
  }
  Stage other = base;
  other.size.intermediate.bytes *= IntermediateFactor(base, settings_, settings);
  const Work before = TaskOf(base, settings_).work();
  const Work difference = TaskOf(other, settings).work() + -1 * before;
  // Time that the models do not explain is constant.
  const double seconds = std::max(costs_.Predict(stage, before).seconds, mean_seconds);
  const TaskEstimate change = costs_.Predict(stage, difference);
  result.times = std::max(1 + change.seconds / seconds, kTimesMin);
  const double share = change.deviation / seconds / result.times;
  result.deviation = std::sqrt(std::log1p(share * share));  // sigma of a log-normal distribution
  const CostStatistics costs = costs_.Of(stage);
  for (std::size_t i = 0; i < kCosts; ++i) {
    const Cost cost = static_cast<Cost>(i);
    const double part = std::abs(difference[cost]) * costs[cost] / seconds;
    if (part > kReportedShare && !costs_.IsDetermined(cost)) result.unknown_costs.push_back(cost);
  }
  return result;
}

}  // namespace tidemark::phases
