// Computes NearestFit's estimate for one key group, from its neighbours if there are any, else from
// a curve.
//
// The first of these steps that applies gives the estimate for a key group of reduce task i ([NF]
// 3.5):
//   1. neighbours among the task's own finished key groups (eq. 6)
//   2. the curve through the task's own points, if R^2 >= 0.9 (eq. 8)
//   3. neighbours among the finished key groups of all tasks
//   4. among the curves of all tasks, the one that fits the task's own points best (least sum of
//      squared errors on D_i; the own curve is a candidate). A task without points uses the curve
//      with the best R^2 ([NF] 3.6).
// The paper leaves some points open (docs/internals/adr/0003). A curve needs ten distinct sizes for
// step 2, and for step 4 if any task has that many. Step 4 compares the 16 curves with the best
// R^2. If no step applies, the estimate is the seconds per byte of all finished key groups. Without
// finished key groups there is no estimate.
//
// Usage: build a NearestFitModel from the points of every task, then call Predict(). Building costs
// O(total points) plus one fit for each task with changed points; Predict() costs O(log n +
// neighbours). Immutable after construction, thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "master/forecast/progress_indicator.h"
#include "regression/delta_neighbourhood.h"
#include "regression/power_law_fit.h"
#include "tidemark/event.h"

namespace tidemark::papers {

enum class PredictionSource : std::uint8_t {
  kOwnNeighbours,
  kOwnFit,
  kOtherNeighbours,
  kOtherFit,
  kRatio,
};

struct GroupPrediction {
  double seconds = 0;          // finite, >= 0
  double relative_spread = 0;  // standard deviation / `seconds`; grows with extrapolation
  PredictionSource source = PredictionSource::kRatio;
};

struct NearestFitOptions {
  std::uint64_t delta_bytes = regression::kDefaultDeltaBytes;
  double r_squared_min = 0.9;  // [NF] 3.5
  regression::PowerLawOptions fit;
  // True for "Fit" ([NF] 8.6), which uses only curves (steps 2 and 4).
  bool is_fit_only = false;
  // Relative spread added for each octave above the largest finished key group. Chosen by hand,
  // after the paper's 8 %.
  double spread_per_octave = 0.08;
};

// The finished key groups of one reduce task. This object is built once per change of the points
// and shared by models.
struct TaskEvidence {
  std::vector<GroupPoint> points;  // by increasing size
  regression::DeltaNeighbourhood neighbours;
  regression::PowerLawFit fit;
};
std::shared_ptr<const TaskEvidence> MakeTaskEvidence(std::span<const GroupPoint> points,
                                                     const NearestFitOptions& options = {});

class NearestFitModel {
 public:
  // `tasks[i]` is null for a task without finished key groups.
  NearestFitModel(std::vector<std::shared_ptr<const TaskEvidence>> tasks,
                  NearestFitOptions options = {});

  // Returns the estimate for a key group, or nullopt if no key group has finished in any task.
  // `task`: index into `tasks`.
  std::optional<GroupPrediction> Predict(std::size_t task, std::uint64_t size_bytes) const;

 private:
  std::vector<std::shared_ptr<const TaskEvidence>> tasks_;
  NearestFitOptions options_;
  regression::DeltaNeighbourhood all_neighbours_;
  double seconds_per_byte_ = 0;
  bool has_points_ = false;
  std::vector<const regression::PowerLawFit*> best_fit_;  // step 4, by task; null if none
};

// NearestFit ([NF] 3, 4, 5) as a progress indicator.
//
//   r~_i(t) = sum of f~(|V~_k|) over unfinished explicit keys      eq. 12
//           + s_i(t) x (expected time of an implicit byte)         5.3
//
// f~ is NearestFitModel. s_i(t) are the task's bytes that neither are finished nor belong to an
// unfinished explicit key. They have the size distribution of the implicit key groups that have
// finished so far. A running task ends no earlier than its work without the running explicit key
// group allows (docs/internals/adr/0003).
//
// The paper gives no interval. This one is e~ +- 1.645 standard deviations of the model, in which
// errors of curves add up and errors of neighbours average out. The errors of the run widen it
// (master/forecast/durations/intervals.h). It is not calibrated; bench/RESULTS.md has its coverage.
//
// Cost of an update: a fit for each task with new points. Each unfinished explicit key and each
// implicit size bin of a task costs O(log n + neighbours). Repeated sizes in tasks without points
// cost O(1).
class NearestFitIndicator final : public forecast::ProgressIndicator {
 public:
  explicit NearestFitIndicator(std::string name = "nearestfit", NearestFitOptions options = {})
      : forecast::ProgressIndicator(std::move(name)), options_(options) {}
  forecast::ReducePhaseForecast Estimate(const facts::JobRecord& state, absl::Time now) override;
  // Saves no state, since the models follow from the job record.
  void Save(facts::CheckpointWriter&) const override {}
  void Resume(facts::CheckpointReader&) override {}

 private:
  // r~_i with its spread, its sources and its heaviest explicit key group.
  struct TaskLeft;

  void RefreshModel(const facts::JobRecord& state);
  std::optional<GroupPrediction> Predict(std::size_t index, std::uint64_t size_bytes);
  TaskLeft LeftOf(const facts::JobRecord& state, const std::vector<GroupBin>& composition,
                  std::size_t index);
  void AddExplicit(const facts::JobRecord& state, std::size_t index, TaskLeft& left);
  void AddImplicit(const facts::JobRecord& state, const std::vector<GroupBin>& composition,
                   std::size_t index, TaskLeft& left);
  void AddInterval(const facts::JobRecord& state, absl::Time now,
                   const std::vector<TaskLeft>& lefts,
                   forecast::ReducePhaseForecast& forecast) const;

  const NearestFitOptions options_;
  std::vector<std::uint64_t> versions_;  // versions of the points in tasks_
  std::vector<std::shared_ptr<const TaskEvidence>> tasks_;
  std::optional<NearestFitModel> model_;
  // Estimates of model_ for a task without points, by size in bytes.
  absl::flat_hash_map<std::uint64_t, std::optional<GroupPrediction>> of_new_task_;
};

}  // namespace tidemark::papers
