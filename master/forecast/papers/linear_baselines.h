// The three indicators that others use ([NF] 7.1): all of them assume time proportional to size.
//
// Kept faithful, as the yardstick. Each works on what the reduce tasks have done so far.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace tidemark::papers {

struct TaskWork {
  std::uint64_t total_bytes = 0;  // of all its key groups
  std::uint64_t done_bytes = 0;   // of the finished ones; may exceed total_bytes when sizes are off
  double reduce_seconds = 0;      // spent in reduce functions for them
};

// Hadoop: the mean over tasks of done / total, 0..1. A task without data counts as done; no
// tasks: 1.
double HadoopProgress(std::span<const TaskWork> tasks);

// JobRatio: alpha(t) = sum of times / sum of sizes over all tasks, seconds per byte (eq. 13). Empty
// before any byte is done.
std::optional<double> JobSecondsPerByte(std::span<const TaskWork> tasks);

// TaskRatio: the same for one task (eq. 15), or `job_seconds_per_byte` while it has done less than
// `small_fraction` of its bytes.
inline constexpr double kSmallFraction = 0.05;
double TaskSecondsPerByte(const TaskWork& task, double job_seconds_per_byte,
                          double small_fraction = kSmallFraction);

// alpha x the bytes that remain (eq. 14, 16), >= 0.
double RatioRemainingSeconds(const TaskWork& task, double seconds_per_byte);

// Exponentially weighted moving average: v <- keep * v + (1 - keep) * x; the first value as it is.
class Ewma {
 public:
  // keep in 0..1; 0 keeps nothing of the past. Others are clamped.
  explicit Ewma(double keep = 0);
  double Update(double value);
  std::optional<double> value() const { return value_; }

  // For checkpoints (master/facts/checkpoint.h).
  template <class Archive>
  void serialize(Archive& archive) {
    archive(keep_, value_);
  }

 private:
  double keep_;
  std::optional<double> value_;
};

}  // namespace tidemark::papers
