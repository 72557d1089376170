// The black box ([GB] 4.2, 5.2): estimates the duration of a task from its partition and the
// resources of its executor, by a regression over past runs.
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
  double executor_memory_bytes = 0;  // 0 if unknown
};

// The features of [GB] 4.2: the partition; the partition times cores, which compete for disk,
// memory and network; the partition over memory, which may spill.
class BlackBox {
 public:
  // `seconds` has one value per run: the mean of the tasks of one stage, since single tasks
  // straggle. Returns errors as LinearModel::Fit(), and InvalidArgument for negative sizes or
  // times.
  static absl::StatusOr<BlackBox> Learn(std::span<const TaskResources> runs,
                                        std::span<const double> seconds);
  // The value is never negative.
  regression::Forecast Predict(const TaskResources& task) const;

 private:
  explicit BlackBox(regression::LinearModel model) : model_(std::move(model)) {}
  regression::LinearModel model_;
};

// Eq. 1.
double AllocatedCores(double executors, double cores_per_executor);
// Eq. 2: waves of equal tasks. REQUIRES: cores >= 1.
double StageSeconds(double task_seconds, std::uint64_t tasks, std::uint64_t cores);
// Eq. 3: stages in sequence, between the start and the end of the application.
double JobSeconds(double startup, std::span<const double> stages, double cleanup);
// Eq. 4 and 5: the records of a partition, whose width is that of all records.
double PartitionRecords(double records, double tasks);
// Eq. 6 and 7: the records after a sequence of filters, whose selectivities depend on parameters.
double RecordsAfter(double records, std::span<const double> selectivities);

}  // namespace tidemark::gray_box
