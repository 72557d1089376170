#include "master/forecast/papers/linear_indicators.h"

#include "master/facts/phases.h"
#include "master/facts/saturating.h"
#include "master/forecast/papers/reduce_schedule.h"

namespace tidemark::papers {
namespace {

using model::JobRecord;
using model::ReducePhaseForecast;
using model::Task;
using model::TaskAttempt;

// What a reduce task has done as its leading attempt sees it; a finished task has done all.
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

// Hadoop counts what the reduce function has read, be the key group finished or not.
void CountRunningGroup(const Task& task, TaskWork& work) {
  if (task.is_over()) {
    work.done_bytes = work.total_bytes;
    return;
  }
  const TaskAttempt* attempt = task.leading_attempt();
  if (attempt == nullptr || !attempt->reduce->running_group) return;
  work.done_bytes =
      model::SaturatingAdd(work.done_bytes, attempt->reduce->running_group->bytes_read);
}

}  // namespace

ReducePhaseForecast HadoopIndicator::Estimate(const JobRecord& state, absl::Time now) {
  const std::optional<absl::Time> start = model::ReducePhaseStart(state);
  if (!start || !model::ReduceSizesKnown(state)) return {};
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
    : model::ProgressIndicator(std::move(name)),
      scope_(scope),
      ewma_keep_(ewma_keep),
      job_rate_(ewma_keep) {}

double RatioIndicator::TaskRate(std::size_t index, const TaskWork& work, double job_rate) {
  if (scope_ == Scope::kJob) return job_rate;
  while (task_rates_.size() <= index) task_rates_.emplace_back(ewma_keep_);
  return task_rates_[index].Update(TaskSecondsPerByte(work, job_rate));
}

ReducePhaseForecast RatioIndicator::Estimate(const JobRecord& state, absl::Time now) {
  if (!model::ReduceSizesKnown(state)) return {};
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
  if (!forecast.ends_at) forecast.ends_at = model::ReducePhaseEnd(state);
  forecast.evidence = Evidence{.ratio = 1};
  return forecast;
}

void RatioIndicator::Save(model::CheckpointWriter& checkpoint) const {
  checkpoint(job_rate_, task_rates_);
}
void RatioIndicator::Resume(model::CheckpointReader& checkpoint) {
  checkpoint(job_rate_, task_rates_);
}

}  // namespace tidemark::papers
