// The costs of a cluster and of an application's stages, from tasks that have ended.
//
// For each task the work is known (task.h, with what its counters say), and so are up to six times:
//
//   run            all work but setup and clean-up
//   processor      the part of it that IsOfProcessor()
//   fetch wait     network: what of the transfers did not overlap with other work
//   shuffle write  local write
//   deserialize    setup
//   the rest       clean-up: results, and the way to and from the driver
//
// Each is linear in the costs, so these are the least squares under costs >= 0. Costs are one for
// all stages and runs, but for kCompute, which is each stage's own functions. An error counts by
// its share of the stage's time (large ones less, by Huber), and the tasks of a stage in one run
// count as a few, however many they are: they all err alike.
//
// What the data cannot tell apart (network without a remote byte, two costs whose work always goes
// together) keeps its prior, says so, and widens what is predicted with it.
//
// Source of the costs: [SPM] Table 4; how to learn them is ours. Pure, deterministic, not
// thread-safe. Cost: O(tasks) a step, tens of steps.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "whatif/phases/work.h"

namespace tidemark::phases {

// Seconds. Times that are not known are left empty, those that are negative or not finite are left
// out.
struct MeasuredTask {
  std::size_t stage = 0;  // the same in all runs for the same functions
  std::size_t run = 0;
  Work work;
  double seconds = 0;  // from launch to end
  std::optional<double> running;
  std::optional<double> processor;
  std::optional<double> fetch_wait;
  std::optional<double> shuffle_write;
  std::optional<double> deserialize;
};

struct Prediction {
  double seconds = 0;    // of one average task
  double deviation = 0;  // of that mean, not of single tasks
};

// The costs of a node nobody has measured: a disk of 200 MB/s, a network of 1 Gbit/s, LZ4 at 400
// MB/s, a processor that compares 20 million records a second. Taste; the data overrule it.
CostStatistics UsualCosts();

class LearntCosts {
 public:
  // InvalidArgument: no task; work that is negative, a prior that is not above 0, or either not
  // finite. `prior`: UsualCosts(), or what a node was measured to do; kCompute is not looked at.
  static absl::StatusOr<LearntCosts> Learn(std::span<const MeasuredTask> tasks,
                                           const CostStatistics& prior);

  // With the stage's own kCompute; of a stage that was never seen, the median of the others.
  CostStatistics Of(std::size_t stage) const;
  // Of kCompute: whether of all stages that were seen.
  bool IsToldApart(Cost cost) const;
  // Also of a difference, whose units may be negative: what the costs are not known by counts as
  // far as the difference needs them. Cost: O(1).
  Prediction Predict(std::size_t stage, const Work& work) const;
  // Of the mean of a stage in one run around its model, as a share.
  double model_deviation() const { return model_deviation_; }

 private:
  friend class Learning;
  using Shared = std::array<double, kCosts>;  // by cost; that of kCompute is not used
  struct Own {                                // kCompute of one stage
    double seconds = 0;
    double information = 0;  // on it, from data and prior
    Shared with_shared{};    // the mixed information, over `information`
    bool is_told_apart = false;
  };
  LearntCosts() = default;

  CostStatistics costs_;
  std::array<bool, kCosts> is_told_apart_{};
  std::array<Shared, kCosts> covariance_{};  // of the shared costs, seconds^2
  std::map<std::size_t, Own> own_;
  Own unseen_;
  double model_deviation_ = 0;
};

}  // namespace tidemark::phases
