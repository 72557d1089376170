// The black box of the gray-box model ([GB] 4.2 and 5.2). It estimates the mean task time of a
// stage from the partition of a task and the resources of its executor, by a regression over past
// runs.
//
// Pure, and thread-safe when const.
#pragma once

#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "regression/linear_model.h"

namespace tidemark::gray_box {

struct TaskResources {
  double partition_bytes = 0;
  double executor_cores = 1;
  double memory_bytes = 0;  // memory of a task; 0 if unknown
};

// The features follow [GB] 4.2: the partition, the cores, the partition times the cores,
// which compete for disk, memory and network, and the partition over the memory, which may spill.
class BlackBox {
 public:
  // `seconds` has the mean task time of the stage in each run, since single tasks straggle. Fails
  // like LinearModel::Fit(), and with InvalidArgument for impossible sizes, cores or times.
  static absl::StatusOr<BlackBox> Learn(std::span<const TaskResources> runs,
                                        std::span<const double> seconds);
  // Returns the mean task time, which may be negative far from all runs. REQUIRES: all values are
  // finite.
  regression::Forecast Predict(const TaskResources& task) const;

 private:
  explicit BlackBox(regression::LinearModel model) : model_(std::move(model)) {}
  regression::LinearModel model_;
};

}  // namespace tidemark::gray_box
