// Learns the costs of a cluster and of an application's stages from ended tasks.
//
// The work of each task, and up to six of its times, are known from task.h and its counters:
//
//     run            all work except setup and clean-up
//     processor      the part for which IsOfProcessor() is true
//     fetch wait     network: the part of the transfers that did not overlap with other work
//     shuffle write  local write
//     deserialize    setup
//     other          clean-up: results, and the way to and from the driver
//
// Each time is linear in the costs, so the result is a least-squares fit with costs >= 0. Costs are
// the same for all stages and runs, except kCompute, which is the cost of each stage's own
// functions. An error counts relative to the stage's time (large errors less, by Huber). The tasks
// of a stage in one run count as a few tasks, regardless of their number, since their errors are
// similar.
//
// The data may not determine a cost, such as the network if no byte was remote, or two costs with
// proportional work. Such a cost keeps its prior, is reported as undetermined, and widens the
// deviation of estimates.
//
// Source of the costs: [SPM] Table 4; the learning method is Tidemark's. Pure and deterministic,
// but not thread-safe. Takes tens of steps of O(tasks) each.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "whatif/phases/task.h"

namespace tidemark::phases {

// Times in seconds. Unknown times are empty; negative or infinite times are ignored.
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
  double deviation = 0;  // deviation of the mean, not of single tasks
};

// Returns typical costs of a node: a disk of 200 MB/s, a network of 1 Gbit/s, LZ4 at 400 MB/s, and
// a processor that compares 20 million records per second. Chosen by hand; measured data override
// them.
CostStatistics UsualCosts();

class LearntCosts {
 public:
  // `prior` is UsualCosts() or the result of measuring a node; its kCompute is ignored. Fails with
  // InvalidArgument if there is no task, if work is negative, if a prior is not positive, or if
  // either is not finite.
  static absl::StatusOr<LearntCosts> Learn(std::span<const MeasuredTask> tasks,
                                           const CostStatistics& prior);

  // Returns the costs with the stage's own kCompute or, for an unknown stage, the median of all
  // other stages.
  CostStatistics Of(std::size_t stage) const;
  // Returns true if the data determine the cost. For kCompute, the data must do so for all known
  // stages.
  bool IsDetermined(Cost cost) const;
  // Also accepts a difference, whose units may be negative. Uncertainty of costs then counts as far
  // as the difference depends on them. O(1).
  TaskEstimate Predict(std::size_t stage, const Work& work) const;
  // Returns the relative deviation of a stage's mean in one run from its model.
  double model_deviation() const { return model_deviation_; }

 private:
  friend class Learning;
  using Shared = std::array<double, kCosts>;  // by cost; kCompute is unused
  struct Own {                                // information about kCompute of one stage
    double seconds = 0;
    double information = 0;  // information about the cost, from data and prior
    Shared with_shared{};    // mixed information, divided by `information`
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
