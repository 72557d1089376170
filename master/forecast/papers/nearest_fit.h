// NearestFit's prediction of one key group: neighbours where there are some, a curve elsewhere.
//
// For a key group of reduce task i, the first that applies ([NF] 3.5):
//   1. neighbours among the task's own finished key groups (eq. 6)
//   2. the curve through the task's own points, if R^2 >= 0.9 (eq. 8)
//   3. neighbours among the finished key groups of all tasks
//   4. among the curves of all tasks, the one that fits the task's own points best (least sum of
//      squared errors on D_i; the own curve is a candidate). A task without points takes the curve
//      of best R^2 ([NF] 3.6).
// Resolutions where the paper is silent (docs/adr/0003): at least ten distinct sizes before a curve
// counts in step 2, and in step 4 as long as any task has that many; step 4 compares the 16 curves
// of best R^2; if nothing applies, plain seconds per byte of all finished key groups; if no
// key group has finished, nothing.
//
// Pure values: build a NearestFitModel from the points of every task, then ask. Building is O(total
// points) plus one fit for each task whose points changed; asking is O(log n + neighbours).
// Immutable after building, safe to share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

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
  double relative_spread = 0;  // one standard deviation over `seconds`; grows with extrapolation
  PredictionSource source = PredictionSource::kRatio;
};

struct NearestFitOptions {
  std::uint64_t delta_bytes = kDefaultDeltaBytes;
  double r_squared_min = 0.9;  // [NF] 3.5
  PowerLawOptions fit;
  // Relative spread added for each octave beyond the largest finished key group; taste, from the
  // study's 8 %.
  double spread_per_octave = 0.08;
};

// What one reduce task has shown. Made once for each change of its points, then shared by models.
struct TaskModel {
  std::vector<GroupPoint> points;  // by increasing size
  DeltaNeighbourhood neighbours;
  PowerLawFit fit;
};
std::shared_ptr<const TaskModel> MakeTaskModel(std::span<const GroupPoint> points,
                                               const NearestFitOptions& options = {});

class NearestFitModel {
 public:
  // tasks[i] may be null: a task that has shown nothing.
  NearestFitModel(std::vector<std::shared_ptr<const TaskModel>> tasks,
                  NearestFitOptions options = {});

  // Empty if no key group has finished in any task. `task` is an index into `tasks`.
  std::optional<GroupPrediction> Predict(std::size_t task, std::uint64_t size_bytes) const;

 private:
  std::vector<std::shared_ptr<const TaskModel>> tasks_;
  NearestFitOptions options_;
  DeltaNeighbourhood all_neighbours_;
  double seconds_per_byte_ = 0;
  bool has_points_ = false;
  std::vector<const PowerLawFit*> best_fit_;  // step 4, by task; null: none
};

}  // namespace tidemark::papers
