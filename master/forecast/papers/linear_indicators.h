// Hadoop, JobRatio and TaskRatio ([NF] 7.1) as progress indicators. They give no interval.
#pragma once

#include <string>
#include <vector>

#include "master/forecast/papers/linear_baselines.h"
#include "master/forecast/progress_indicator.h"

namespace tidemark::papers {

// e~ = t_start + (t - t_start) / mean over tasks of the part of their bytes read. As in Hadoop,
// bytes that the running reduce function has read count as read.
class HadoopIndicator final : public model::ProgressIndicator {
 public:
  HadoopIndicator() : model::ProgressIndicator("hadoop") {}
  model::ReducePhaseForecast Estimate(const model::JobRecord& state, absl::Time now) override;
  void Save(model::CheckpointWriter&) const override {}
  void Resume(model::CheckpointReader&) override {}
};

// r~_i = alpha x remaining bytes, with alpha of the job (eq. 13, 14) or of the task (eq. 15, 16),
// smoothed by an EWMA that keeps `ewma_keep` of the past (0: not smoothed).
class RatioIndicator final : public model::ProgressIndicator {
 public:
  enum class Scope : std::uint8_t { kJob, kTask };
  RatioIndicator(std::string name, Scope scope, double ewma_keep);
  model::ReducePhaseForecast Estimate(const model::JobRecord& state, absl::Time now) override;
  void Save(model::CheckpointWriter& checkpoint) const override;
  void Resume(model::CheckpointReader& checkpoint) override;

 private:
  double TaskRate(std::size_t index, const TaskWork& work, double job_rate);

  Scope scope_;
  double ewma_keep_;
  Ewma job_rate_;
  std::vector<Ewma> task_rates_;
};

}  // namespace tidemark::papers
