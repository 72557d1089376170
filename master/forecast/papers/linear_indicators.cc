#include "master/forecast/papers/linear_indicators.h"

#include <algorithm>
#include <cmath>

#include "master/facts/job_record.h"
#include "master/facts/phases.h"
#include "master/forecast/papers/reduce_schedule.h"

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

namespace {

using facts::JobRecord;
using facts::Task;
using facts::TaskAttempt;
using forecast::ReducePhaseForecast;

// Returns the progress of a reduce task according to its leading attempt. A finished task has done
// all of its work.
TaskWork WorkOf(const JobRecord& state, std::size_t index) {
  const Task& task = state.reduce_tasks()[index];
  TaskWork work{.total_bytes = state.reduce_input_bytes(index)};
  const TaskAttempt* attempt =
      task.is_finished() ? task.finished_attempt() : task.leading_attempt();
  if (attempt != nullptr) {
    work.done_bytes = attempt->bytes_done;
    work.reduce_seconds = absl::ToDoubleSeconds(attempt->reduce->reduce_time);
  }
  return work;
}

std::vector<TaskWork> WorkOfAll(const JobRecord& state) {
  std::vector<TaskWork> works;
  works.reserve(state.reduce_tasks().size());
  for (std::size_t i = 0; i < state.reduce_tasks().size(); ++i) works.push_back(WorkOf(state, i));
  return works;
}

// Adds the bytes that the running reduce function has read. Hadoop counts them before the key group
// ends.
void CountRunningGroup(const Task& task, TaskWork& work) {
  if (task.is_over()) {
    work.done_bytes = work.total_bytes;
    return;
  }
  const TaskAttempt* attempt = task.leading_attempt();
  if (attempt == nullptr || !attempt->reduce->running_group) return;
  work.done_bytes =
      facts::SaturatingAdd(work.done_bytes, attempt->reduce->running_group->bytes_read);
}

}  // namespace

ReducePhaseForecast HadoopIndicator::Estimate(const JobRecord& state, absl::Time now) {
  const std::optional<absl::Time> start = facts::ReducePhaseStart(state);
  if (!start || !facts::ReduceSizesKnown(state)) return {};
  std::vector<TaskWork> works = WorkOfAll(state);
  for (std::size_t i = 0; i < works.size(); ++i) {
    CountRunningGroup(state.reduce_tasks()[i], works[i]);
  }
  const double progress = HadoopProgress(works);
  ReducePhaseForecast forecast;
  if (progress > 0) forecast.ends_at = *start + (now - *start) / progress;
  return forecast;
}

RatioIndicator::RatioIndicator(std::string name, Scope scope, double ewma_keep)
    : forecast::ProgressIndicator(std::move(name)),
      scope_(scope),
      ewma_keep_(ewma_keep),
      job_rate_(ewma_keep) {}

double RatioIndicator::TaskRate(std::size_t index, const TaskWork& work, double job_rate) {
  if (scope_ == Scope::kJob) return job_rate;
  while (task_rates_.size() <= index) task_rates_.emplace_back(ewma_keep_);
  return task_rates_[index].Update(TaskSecondsPerByte(work, job_rate));
}

ReducePhaseForecast RatioIndicator::Estimate(const JobRecord& state, absl::Time now) {
  if (!facts::ReduceSizesKnown(state)) return {};
  const std::vector<TaskWork> works = WorkOfAll(state);
  const std::optional<double> measured = JobSecondsPerByte(works);
  if (!measured) return {};
  const double job_rate = job_rate_.Update(*measured);
  std::vector<ReduceTimeLeft> left(works.size());
  for (std::size_t i = 0; i < works.size(); ++i) {
    const double rate = TaskRate(i, works[i], job_rate);
    left[i].left = absl::Seconds(RatioRemainingSeconds(works[i], rate));
  }
  ReducePhaseForecast forecast;
  forecast.ends_at = LatestEnd(ReduceTaskEnds(state, now, left));
  if (!forecast.ends_at) forecast.ends_at = facts::ReducePhaseEnd(state);
  forecast.evidence = Evidence{.ratio = 1};
  return forecast;
}

void RatioIndicator::Save(facts::CheckpointWriter& checkpoint) const {
  checkpoint(job_rate_, task_rates_);
}
void RatioIndicator::Resume(facts::CheckpointReader& checkpoint) {
  checkpoint(job_rate_, task_rates_);
}

}  // namespace tidemark::papers
