#include "whatif/gray_box/black_box.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tidemark::gray_box {
namespace {

std::vector<double> FeaturesOf(const TaskResources& task) {
  const double bytes = task.partition_bytes;
  return {bytes, task.executor_cores, bytes * task.executor_cores,
          task.memory_bytes > 0 ? bytes / task.memory_bytes : 0};
}

bool IsUsable(const TaskResources& task, double seconds) {
  const auto is_amount_of_run = [](double value) { return value >= 0 && std::isfinite(value); };
  return is_amount_of_run(task.partition_bytes) && task.executor_cores > 0 &&
         std::isfinite(task.executor_cores) && is_amount_of_run(task.memory_bytes) &&
         is_amount_of_run(seconds);
}

}  // namespace

absl::StatusOr<BlackBox> BlackBox::Learn(std::span<const TaskResources> runs,
                                         std::span<const double> seconds) {
  std::vector<std::vector<double>> rows;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i < seconds.size() && !IsUsable(runs[i], seconds[i])) {
      return absl::InvalidArgumentError(
          absl::StrCat("run ", i, ": impossible size, cores, memory or time"));
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
  return model_.Predict(FeaturesOf(task));
}

}  // namespace tidemark::gray_box
