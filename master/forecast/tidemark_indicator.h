// Tidemark's own progress indicator: a posterior over cost curves, node speeds, what is seen from
// inside running groups, and the end as a distribution.
//
//   time left of a task = q_i (explicit groups left + implicit bytes left) + rest of the running
//   one end                 = the last task, over many drawn futures: median and 90 % interval
//
// docs/estimator.md describes it; the parts are in master/forecast/durations/. Cost of an update:
// O(tasks x bins x curves), independent of the number of keys.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "master/forecast/dag/application_estimate.h"
#include "master/forecast/durations/explicit_evidence.h"
#include "master/forecast/durations/lazy_fit.h"
#include "master/forecast/durations/recent_sizes.h"
#include "master/forecast/durations/reduce_stage.h"
#include "master/forecast/durations/remaining_groups.h"
#include "master/forecast/durations/running_group.h"
#include "master/forecast/durations/task_speed.h"
#include "master/forecast/progress_indicator.h"
#include "regression/cost_model.h"

namespace tidemark::model {

class TidemarkIndicator final : public ProgressIndicator {
 public:
  // Without signals, of a running group only its key and the time it has taken are used.
  enum class Signals : std::uint8_t { kIgnored, kUsed };
  TidemarkIndicator(std::string name, Signals signals);
  ReducePhaseForecast Estimate(const JobRecord& state, absl::Time now) override;
  void Save(CheckpointWriter& checkpoint) const override { checkpoint(*this); }
  void Resume(CheckpointReader& checkpoint) override { checkpoint(*this); }
  // For checkpoints (master/facts/checkpoint.h).
  template <class Archive>
  void serialize(Archive& archive) {
    archive(remaining_, evidence_, implicit_sizes_, raw_, by_bytes_, by_feature_, emissions_,
            time_feature_, emission_feature_, updates_, speeds_, running_, predicted_total_);
  }

 private:
  // What key groups cost, at one update.
  struct GroupCosts;
  void ChooseFeatures(const JobRecord& state);
  void UpdateSpeeds(const JobRecord& state);
  cost::GroupTimes ImplicitByteTimes(const JobRecord& state, cost::GroupTimeTable& table);
  cost::ReduceTaskLeft LeftOf(const JobRecord& state, absl::Time now, std::size_t index,
                              GroupCosts& group_costs);
  static ReducePhaseForecast Expected(const JobRecord& state, absl::Time now);
  ReducePhaseForecast BySize(const JobRecord& state, absl::Time now);
  static void SetEnd(const JobRecord& state, absl::Time now, const estimate::Estimate& tasks,
                     const cost::FixedDraws& draws, ReducePhaseForecast& forecast);
  static void SetEnd(absl::Time now, const estimate::Range& end, ReducePhaseForecast& forecast);
  static std::optional<cost::OtherAttempt> OtherAttemptOf(const JobRecord& state, absl::Time now,
                                                          std::size_t index,
                                                          const TaskAttempt& leading,
                                                          double shuffle_seconds_per_byte,
                                                          const cost::ReduceTaskLeft& task);
  void AddRunning(const JobRecord& state, absl::Time now, const ReduceWork& work,
                  GroupCosts& group_costs, cost::ReduceTaskLeft& task);
  std::vector<double> CurveWeights(const std::vector<cost::ReduceTaskLeft>& tasks,
                                   const regression::CostModel& costs) const;

  cost::RemainingGroups remaining_;
  cost::ExplicitEvidence evidence_;
  cost::RecentSizes implicit_sizes_;
  cost::SampledGroups sampled_;
  cost::LazyFit raw_;         // as if all tasks were equally fast
  cost::LazyFit by_bytes_;    // of all key groups
  cost::LazyFit by_feature_;  // of explicit ones
  cost::LazyFit emissions_;   // of explicit ones, by emission_feature_
  cost::CostFeature time_feature_ = cost::CostFeature::kBytes;
  cost::CostFeature emission_feature_ = cost::CostFeature::kBytes;
  std::uint64_t updates_ = 0;
  cost::TaskSpeeds speeds_;
  cost::RunningGroups running_;
  std::vector<double> predicted_total_;  // reduce time of each task, seconds, as of last update
};

}  // namespace tidemark::model
