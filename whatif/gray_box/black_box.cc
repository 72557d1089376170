#include "whatif/gray_box/black_box.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tidemark::gray_box {
namespace {

std::vector<double> FeaturesOf(const TaskResources& task) {
  const double bytes = task.partition_bytes;
  return {bytes, task.executor_cores, bytes * task.executor_cores,
          task.executor_memory_bytes > 0 ? bytes / task.executor_memory_bytes : 0};
}

bool IsUsable(const TaskResources& task, double seconds) {
  const auto is_amount = [](double value) { return value >= 0 && std::isfinite(value); };
  return is_amount(task.partition_bytes) && task.executor_cores > 0 &&
         std::isfinite(task.executor_cores) && is_amount(task.executor_memory_bytes) &&
         is_amount(seconds);
}

}  // namespace

absl::StatusOr<BlackBox> BlackBox::Learn(std::span<const TaskResources> runs,
                                         std::span<const double> seconds) {
  std::vector<std::vector<double>> rows;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i < seconds.size() && !IsUsable(runs[i], seconds[i])) {
      return absl::InvalidArgumentError(
          absl::StrCat("run ", i, ": impossible size, cores or time"));
    }
    rows.push_back(FeaturesOf(runs[i]));
  }
  auto model = regression::LinearModel::Fit(
      {"partition", "cores", "partition x cores", "partition / memory"}, rows,
      {seconds.begin(), seconds.end()});
  if (!model.ok()) return model.status();
  return BlackBox(*std::move(model));
}

regression::Forecast BlackBox::Predict(const TaskResources& task) const {
  regression::Forecast forecast = model_.Predict(FeaturesOf(task));
  forecast.value = std::max(forecast.value, 0.0);
  return forecast;
}

double AllocatedCores(double executors, double cores_per_executor) {
  return executors * cores_per_executor;
}

double StageSeconds(double task_seconds, std::uint64_t tasks, std::uint64_t cores) {
  const std::uint64_t waves = tasks / cores + (tasks % cores > 0 ? 1 : 0);
  return task_seconds * static_cast<double>(waves);
}

double JobSeconds(double startup, std::span<const double> stages, double cleanup) {
  double seconds = startup + cleanup;
  for (const double stage : stages) seconds += stage;
  return seconds;
}

double PartitionRecords(double records, double tasks) { return tasks > 0 ? records / tasks : 0; }

double RecordsAfter(double records, std::span<const double> selectivities) {
  for (const double selectivity : selectivities) records *= selectivity;
  return records;
}

}  // namespace tidemark::gray_box
