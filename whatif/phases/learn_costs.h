// Learns the costs of a cluster and of an application's stages from ended tasks.
//
// The work of each task is known from task.h and its counters, and so are up to six times:
//
//     run            all work except setup and clean-up
//     processor      the part for which IsOfProcessor() is true
//     fetch wait     network: the part of the transfers that did not overlap with other work
//     shuffle write  local write
//     deserialize    setup
//     the rest       clean-up: results, and the way to and from the driver
//
// Each is linear in the costs, so the result is the least squares under costs >= 0. Costs are the
// same for all stages and runs, except kCompute, which is the cost of each stage's own functions.
// An error counts by its share of the stage's time (large ones less, by Huber). The tasks of a
// stage in one run count as a few, regardless of their number, since their errors are alike.
//
// The data may not determine a cost, such as the network without a remote byte, or two costs with
// proportional work. Such a cost keeps its prior, is reported as undetermined, and widens the
// deviation of estimates.
//
// Source of the costs: [SPM] Table 4; the learning method is Tidemark's. Pure, deterministic, not
// thread-safe. Cost: O(tasks) per step, tens of steps.
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

// Seconds. Unknown times are empty; negative or infinite ones are ignored.
struct MeasuredTask {
  std::size_t stage = 0;  // equal in every run for the same functions
  std::size_t run = 0;
  Work work;
  double seconds = 0;  // from launch to end
  std::optional<double> running;
  std::optional<double> processor;
  std::optional<double> fetch_wait;
  std::optional<double> shuffle_write;
  std::optional<double> deserialize;
};

struct TaskEstimate {
  double seconds = 0;    // duration of one average task
  double deviation = 0;  // deviation of that mean, not of single tasks
};

// Returns typical costs of a node: a disk of 200 MB/s, a network of 1 Gbit/s, LZ4 at 400 MB/s, a
// processor that compares 20 million records per second. Chosen by hand; measured data override
// them.
CostStatistics UsualCosts();

class LearntCosts {
 public:
  // `prior` is UsualCosts() or the result of a measurement of a node; its kCompute is ignored.
  // InvalidArgument if there is no task, if work is negative, if a prior is not above 0, or if
  // either is not finite.
  static absl::StatusOr<LearntCosts> Learn(std::span<const MeasuredTask> tasks,
                                           const CostStatistics& prior);

  // Returns the costs with the stage's own kCompute; the median of the others for an unknown stage.
  CostStatistics Of(std::size_t stage) const;
  // Returns true if the data determine the cost; for kCompute, if they do so for all known stages.
  bool IsDetermined(Cost cost) const;
  // Also accepts a difference, whose units may be negative: uncertainty of costs counts as far as
  // the difference depends on them. Cost: O(1).
  TaskEstimate Predict(std::size_t stage, const Work& work) const;
  // Returns the deviation of a stage's mean in one run from its model, as a share.
  double model_deviation() const { return model_deviation_; }

 private:
  friend class Learning;
  using Shared = std::array<double, kCosts>;  // by cost; kCompute is unused
  struct Own {                                // kCompute of one stage
    double seconds = 0;
    double information = 0;  // information about the cost, from data and prior
    Shared with_shared{};    // the mixed information, over `information`
    bool is_determined = false;
  };
  LearntCosts() = default;

  CostStatistics costs_;
  std::array<bool, kCosts> is_determined_{};
  std::array<Shared, kCosts> covariance_{};  // covariance of the shared costs, seconds^2
  std::map<std::size_t, Own> own_;
  Own unknown_;
  double model_deviation_ = 0;
};

}  // namespace tidemark::phases
