#include "master/forecast/papers/linear_baselines.h"

#include <algorithm>
#include <cmath>

namespace tidemark::papers {

double HadoopProgress(std::span<const TaskWork> tasks) {
  if (tasks.empty()) return 1;
  double sum = 0;
  for (const TaskWork& task : tasks) {
    const double done = static_cast<double>(std::min(task.done_bytes, task.total_bytes));
    sum += task.total_bytes == 0 ? 1 : done / static_cast<double>(task.total_bytes);
  }
  return sum / static_cast<double>(tasks.size());
}

std::optional<double> JobSecondsPerByte(std::span<const TaskWork> tasks) {
  double seconds = 0;
  double bytes = 0;
  for (const TaskWork& task : tasks) {
    seconds += task.reduce_seconds;
    bytes += static_cast<double>(task.done_bytes);
  }
  if (bytes <= 0) return std::nullopt;
  return seconds / bytes;
}

double TaskSecondsPerByte(const TaskWork& task, double job_seconds_per_byte,
                          double small_fraction) {
  const double done = static_cast<double>(task.done_bytes);
  if (done <= 0 || done < small_fraction * static_cast<double>(task.total_bytes)) {
    return job_seconds_per_byte;
  }
  return task.reduce_seconds / done;
}

double RatioRemainingSeconds(const TaskWork& task, double seconds_per_byte) {
  if (task.done_bytes >= task.total_bytes) return 0;
  return seconds_per_byte * static_cast<double>(task.total_bytes - task.done_bytes);
}

Ewma::Ewma(double keep) : keep_(std::isnan(keep) ? 0 : std::clamp(keep, 0.0, 1.0)) {}

double Ewma::Update(double value) {
  value_ = value_ ? keep_ * *value_ + (1 - keep_) * value : value;
  return *value_;
}

}  // namespace tidemark::papers
