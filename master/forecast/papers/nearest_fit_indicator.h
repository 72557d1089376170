// NearestFit ([NF] 3, 4, 5) as a progress indicator.
//
//   r~_i(t) = sum of f~(|V~_k|) over unfinished explicit keys      eq. 12
//           + s_i(t) x (expected time of an implicit byte)         5.3
//
// with f~ of regression/nearest_fit.h and s_i(t) the task's bytes that are neither finished nor of
// an unfinished explicit key, split like the implicit key groups that have finished so far. A
// running task ends no earlier than what is left without its running explicit key group allows
// (docs/adr/0003).
//
// The paper gives no interval. Ours is e~ +- 1.645 standard deviations of the model (curves: errors
// add up; neighbours: they average out), before the record of the run widens it
// (master/forecast/durations/interval_record.h). It is not calibrated; bench/RESULTS.md says how
// often it holds the true end.
//
// Cost of an update: a fit for each task with new points, and one look for each unfinished explicit
// key and for each implicit size bin of each task: O(log n) and the neighbours of that size, but
// O(1) for all but the first of a size in tasks that have shown nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "master/forecast/papers/nearest_fit.h"
#include "master/forecast/progress_indicator.h"

namespace tidemark::papers {

class NearestFitIndicator final : public model::ProgressIndicator {
 public:
  NearestFitIndicator() : model::ProgressIndicator("nearestfit") {}
  model::ReducePhaseForecast Estimate(const model::JobRecord& state, absl::Time now) override;
  // Nothing: the models follow from the state.
  void Save(model::CheckpointWriter&) const override {}
  void Resume(model::CheckpointReader&) override {}

 private:
  // r~_i with its spread, its sources and the heaviest explicit key group in it.
  struct TaskLeft;

  void RefreshModel(const model::JobRecord& state);
  std::optional<GroupPrediction> Predict(std::size_t index, std::uint64_t size_bytes);
  TaskLeft LeftOf(const model::JobRecord& state, const std::vector<GroupBin>& composition,
                  std::size_t index);
  void AddExplicit(const model::JobRecord& state, std::size_t index, TaskLeft& left);
  void AddImplicit(const model::JobRecord& state, const std::vector<GroupBin>& composition,
                   std::size_t index, TaskLeft& left);
  void AddInterval(const model::JobRecord& state, absl::Time now,
                   const std::vector<TaskLeft>& lefts, model::ReducePhaseForecast& forecast) const;

  std::vector<std::uint64_t> versions_;  // of the points that tasks_ were made from
  std::vector<std::shared_ptr<const TaskModel>> tasks_;
  std::optional<NearestFitModel> model_;
  // What model_ predicts for a task that has shown nothing, by size in bytes.
  absl::flat_hash_map<std::uint64_t, std::optional<GroupPrediction>> of_new_task_;
};

}  // namespace tidemark::papers
