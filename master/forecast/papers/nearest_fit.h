// Computes NearestFit's estimate for one key group, from its neighbours if there are any, and
// otherwise from a curve.
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
// step 2. It also needs them for step 4 if any task has that many sizes. Step 4 compares the 16
// curves with the best R^2. If no step applies, the estimate uses the seconds per byte of all
// finished key groups. If no key group has finished, there is no estimate.
//
// Usage: build a NearestFitModel from the points of every task, then call Predict(). Building takes
// O(total points) time plus one fit for each task with changed points; Predict() takes O(log n +
// neighbours) time. Immutable after construction, thread-safe.
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
  // based on the paper's 8 %.
  double spread_per_octave = 0.08;
};

// The finished key groups of one reduce task. This object is built once per change of the points,
// and models share it.
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
  // `task` is an index into `tasks`.
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
// f~ is NearestFitModel. s_i(t) is the number of the task's bytes that neither are finished nor
// belong to an unfinished explicit key. They are assumed to have the size distribution of the
// finished implicit key groups. A running task takes at least the time of its remaining work,
// excluding the running explicit key group (docs/internals/adr/0003).
//
// The paper defines no interval. The interval here is e~ +- 1.645 standard deviations of the model,
// in which errors of curves add up and errors of neighbours average out. The errors of the run
// widen the interval (master/forecast/durations/intervals.h). The interval is not calibrated;
// bench/RESULTS.md reports its coverage.
//
// An update fits a curve for each task with new points. Each unfinished explicit key and each
// implicit size bin of a task takes O(log n + neighbours) time, or O(1) for repeated sizes in tasks
// without points.
class NearestFitIndicator final : public forecast::ProgressIndicator {
 public:
  explicit NearestFitIndicator(std::string name = "nearestfit", NearestFitOptions options = {})
      : forecast::ProgressIndicator(std::move(name)), options_(options) {}
  forecast::ReducePhaseForecast Estimate(const facts::JobRecord& state, absl::Time now) override;
  // Saves no state, since the models can be rebuilt from the job record.
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
