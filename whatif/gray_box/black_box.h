// What a task takes, from the size of its partition and what its executor has ([GB] 4.2, 5.2): the
// black box, by regression on earlier runs.
//
// Pure, thread-safe when const.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "regression/linear_model.h"

namespace tidemark::gray_box {

struct TaskResources {
  double partition_bytes = 0;
  double executor_cores = 1;
  double executor_memory_bytes = 0;  // 0: not known
};

// Features are what [GB] 4.2 names: the partition; with cores, those that compete for disk, memory
// and network; over memory, what may spill.
class BlackBox {
 public:
  // `seconds`: the mean of the tasks of one stage in one run, since single ones straggle; one for
  // each of `runs`. InvalidArgument as LinearModel::Fit(), and for negative sizes or times.
  static absl::StatusOr<BlackBox> Learn(std::span<const TaskResources> runs,
                                        std::span<const double> seconds);
  // Never negative.
  Forecast Predict(const TaskResources& task) const;

 private:
  explicit BlackBox(LinearModel model) : model_(std::move(model)) {}
  LinearModel model_;
};

// Eq. 1: of so many cores each.
double AllocatedCores(double executors, double cores_per_executor);
// Eq. 2: waves of equal tasks. REQUIRES: cores >= 1.
double StageSeconds(double task_seconds, std::uint64_t tasks, std::uint64_t cores);
// Eq. 3: stages one after the other, between the start and the end of the application.
double JobSeconds(double startup, std::span<const double> stages, double cleanup);
// Eq. 4 and 5: records of a partition, and the width of each, which is that of all.
double PartitionRecords(double records, double tasks);
// Eq. 6 and 7: of filters one after the other, whose selectivities parameters decide.
double RecordsAfter(double records, std::span<const double> selectivities);

}  // namespace tidemark::gray_box
