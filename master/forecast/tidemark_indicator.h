// Tidemark's own progress indicator. It combines a posterior over cost curves, node speeds, and
// progress within running groups, and forecasts the end as a distribution.
//
//   remaining time of a task = q_i (remaining explicit groups + remaining implicit bytes)
//                              + remaining time of the running group
//   end                      = the last end of a task, over many drawn futures: median and
//                              90 % interval
//
// docs/internals/estimator.md describes the method; its parts are in master/forecast/durations/. An
// update takes O(tasks x bins x curves) time, independent of the number of keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "master/forecast/dag/application_forecast.h"
#include "master/forecast/durations/draws.h"
#include "master/forecast/durations/finished_groups.h"
#include "master/forecast/durations/group_times.h"
#include "master/forecast/durations/reduce_stage.h"
#include "master/forecast/durations/remaining_groups.h"
#include "master/forecast/durations/running_group.h"
#include "master/forecast/durations/sampled_groups.h"
#include "master/forecast/progress_indicator.h"
#include "regression/cost_model.h"

namespace tidemark::forecast {

struct MapsLeft {
  dag::Application application;  // the map stage alone
  dag::ApplicationForecast forecast;
};

// Returns the remaining map tasks and their ends, from their sizes and pace. Returns nullopt before
// any map task has ended or reported progress, after the last one has ended, and if no end can be
// computed. Costs as much as durations::MapStageBySize() and dag::ForecastApplication().
std::optional<MapsLeft> EstimateMaps(const facts::JobRecord& state, absl::Time now,
                                     const durations::FixedDraws& draws);

class TidemarkIndicator final : public ProgressIndicator {
 public:
  // kIgnored uses only the key and the elapsed time of a running group.
  enum class Signals : std::uint8_t { kIgnored, kUsed };
  TidemarkIndicator(std::string name, Signals signals);
  ReducePhaseForecast Estimate(const facts::JobRecord& state, absl::Time now) override;
  void Save(facts::CheckpointWriter& checkpoint) const override { checkpoint(*this); }
  void Resume(facts::CheckpointReader& checkpoint) override { checkpoint(*this); }
  // For checkpoints (master/facts/checkpoint.h).
  template <class Archive>
  void serialize(Archive& archive) {
    archive(remaining_, evidence_, implicit_sizes_, raw_, by_bytes_, by_feature_, emissions_,
            time_feature_, emission_feature_, updates_, speeds_, running_, predicted_total_);
  }

 private:
  // The cost of key groups at one update.
  struct GroupCosts;
  void ChooseFeatures(const facts::JobRecord& state);
  void UpdateSpeeds(const facts::JobRecord& state);
  durations::GroupTimes ImplicitByteTimes(const facts::JobRecord& state,
                                          durations::GroupTimeTable& table);
  durations::ReduceTaskLeft LeftOf(const facts::JobRecord& state, absl::Time now, std::size_t index,
                                   GroupCosts& group_costs);
  static ReducePhaseForecast WithoutEvidence(const facts::JobRecord& state, absl::Time now);
  ReducePhaseForecast BySize(const facts::JobRecord& state, absl::Time now);
  static void SetEnd(const facts::JobRecord& state, absl::Time now, durations::Draws seconds,
                     const durations::FixedDraws& draws, ReducePhaseForecast& forecast);
  static void SetEnd(absl::Time now, const dag::SecondsRange& end, ReducePhaseForecast& forecast);
  static std::optional<durations::OtherAttempt> OtherAttemptOf(
      const facts::JobRecord& state, absl::Time now, std::size_t index,
      const facts::TaskAttempt& leading, double shuffle_seconds_per_byte,
      const durations::ReduceTaskLeft& task);
  void AddRunning(const facts::JobRecord& state, absl::Time now, const facts::ReduceWork& work,
                  GroupCosts& group_costs, durations::ReduceTaskLeft& task);
  std::vector<double> CurveWeights(const std::vector<durations::ReduceTaskLeft>& tasks,
                                   const regression::CostModel& costs) const;

  durations::RemainingGroups remaining_;
  durations::ExplicitEvidence evidence_;
  durations::RecentSizes implicit_sizes_;
  durations::SampledGroups sampled_;
  durations::LazyFit raw_;         // ignores the speeds of tasks
  durations::LazyFit by_bytes_;    // fitted to all key groups
  durations::LazyFit by_feature_;  // fitted to explicit key groups
  durations::LazyFit emissions_;   // fitted to explicit key groups, by emission_feature_
  durations::CostFeature time_feature_ = durations::CostFeature::kBytes;
  durations::CostFeature emission_feature_ = durations::CostFeature::kBytes;
  std::uint64_t updates_ = 0;
  durations::TaskSpeeds speeds_;
  durations::RunningGroups running_;
  std::vector<double> predicted_total_;  // reduce time of each task at the last update, in seconds
};

}  // namespace tidemark::forecast
