// The three baseline indicators of [NF] 7.1, which assume that time is proportional to size.
//
// They follow the paper. Each uses the current progress of the reduce tasks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "master/forecast/progress_indicator.h"

namespace tidemark::papers {

struct TaskWork {
  std::uint64_t total_bytes = 0;  // bytes of all key groups
  std::uint64_t done_bytes = 0;   // bytes of the finished key groups; may exceed total_bytes
  double reduce_seconds = 0;      // time of the reduce calls for done_bytes
};

// Returns Hadoop's progress: the mean of done / total over tasks, in 0..1. A task without data
// counts as done. Returns 1 if there are no tasks.
double HadoopProgress(std::span<const TaskWork> tasks);

// Returns the rate of JobRatio, alpha(t) = sum of times / sum of sizes over all tasks, in seconds
// per byte ([NF] eq. 13). Returns nullopt before any byte is done.
std::optional<double> JobSecondsPerByte(std::span<const TaskWork> tasks);

// Returns the rate of TaskRatio: time / size of one task ([NF] eq. 15). Returns
// `job_seconds_per_byte` until the task has done `small_fraction` of its bytes.
inline constexpr double kSmallFraction = 0.05;
double TaskSecondsPerByte(const TaskWork& task, double job_seconds_per_byte,
                          double small_fraction = kSmallFraction);

// Returns alpha times the remaining bytes ([NF] eq. 14, 16); at least 0.
double RatioRemainingSeconds(const TaskWork& task, double seconds_per_byte);

// Exponentially weighted moving average: v <- keep * v + (1 - keep) * x. The first value is not
// smoothed.
class Ewma {
 public:
  // `keep` is the weight of the past, clamped to 0..1.
  explicit Ewma(double keep = 0);
  double Update(double value);
  std::optional<double> value() const { return value_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(keep_, value_);
  }

 private:
  double keep_;
  std::optional<double> value_;
};

// The progress indicators Hadoop, JobRatio and TaskRatio ([NF] 7.1). They have no interval.

// Forecasts e~ = t_start + (t - t_start) / f, where f is the mean over tasks of the share of their
// bytes that was read. Bytes that the running reduce function has read also count, as in Hadoop.
class HadoopIndicator final : public forecast::ProgressIndicator {
 public:
  HadoopIndicator() : forecast::ProgressIndicator("hadoop") {}
  forecast::ReducePhaseForecast Estimate(const facts::JobRecord& state, absl::Time now) override;
  void Save(facts::CheckpointWriter&) const override {}
  void Resume(facts::CheckpointReader&) override {}
};

// Forecasts r~_i = alpha x remaining bytes. alpha is the rate of the job ([NF] eq. 13, 14) or of
// the task ([NF] eq. 15, 16). It is smoothed by an EWMA with the weight `ewma_keep` of the past (0:
// no smoothing).
class RatioIndicator final : public forecast::ProgressIndicator {
 public:
  enum class Scope : std::uint8_t { kJob, kTask };
  RatioIndicator(std::string name, Scope scope, double ewma_keep);
  forecast::ReducePhaseForecast Estimate(const facts::JobRecord& state, absl::Time now) override;
  void Save(facts::CheckpointWriter& checkpoint) const override;
  void Resume(facts::CheckpointReader& checkpoint) override;

 private:
  double TaskRate(std::size_t index, const TaskWork& work, double job_rate);

  Scope scope_;
  double ewma_keep_;
  Ewma job_rate_;
  std::vector<Ewma> task_rates_;
};

}  // namespace tidemark::papers
