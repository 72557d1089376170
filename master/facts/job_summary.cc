#include "master/facts/job_summary.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "master/facts/phases.h"
#include "tidemark/past_run.h"

namespace tidemark {
namespace {

std::optional<double> Ratio(std::uint64_t out, std::uint64_t in) {
  if (out == 0 || in == 0) return std::nullopt;
  return static_cast<double>(out) / static_cast<double>(in);
}

}  // namespace

std::optional<double> JobSummary::map_selectivity() const {
  return Ratio(map_output_bytes, map_input_bytes);
}

std::optional<double> JobSummary::reduce_selectivity() const {
  return Ratio(reduce_output_bytes, reduce_input_bytes);
}

bool CanBeKept(const PastRun& run) {
  std::size_t edges = 0;
  std::size_t name_bytes = 0;
  std::size_t times = 0;
  std::size_t long_tasks = 0;
  for (const PastStage& stage : run.stages) {
    edges += stage.parents.size();
    name_bytes += stage.name.size() + stage.title.size();
    for (const auto& seconds : stage.seconds) times += seconds.size();
    long_tasks += stage.long_tasks.size();
  }
  return run.stages.size() <= PastRun::kStagesMax && edges <= PastRun::kEdgesMax &&
         name_bytes <= PastRun::kNameBytesMax && times <= PastRun::kTaskTimesMax &&
         long_tasks <= PastRun::kLongTasksMax && run.parameters.size() <= PastRun::kParametersMax &&
         facts::BytesOf(run.parameters) <= PastRun::kParameterBytesMax;
}

std::optional<PastRun> PastRunOf(const Snapshot& final, const JobSummary& summary) {
  if (final.state != JobState::kSucceeded) return std::nullopt;
  if (!summary.run.stages.empty()) {
    PastRun run = summary.run;
    run.interval_score = summary.interval_score;
    return run;
  }
  const StageProgress* const map = facts::PhaseOf(final, StageKind::kMap);
  const StageProgress* const reduce = facts::PhaseOf(final, StageKind::kReduce);
  if (!final.started_at || (map == nullptr && reduce == nullptr)) return std::nullopt;
  // If the end of a task was not reported, the end of its phase is unknown, but not that of the
  // job.
  std::optional<absl::Time> ended = final.ended_at;
  for (const StageProgress* const phase : {map, reduce}) {
    if (phase != nullptr && phase->ended_at) ended = std::max(ended, phase->ended_at);
  }
  if (!ended) return std::nullopt;
  PastRun run = {.map_input_bytes = summary.map_input_bytes,
                 .interval_score = summary.interval_score,
                 .map_tasks = summary.map_tasks,
                 .reduce_tasks = summary.reduce_tasks,
                 .groups = summary.bins,
                 .timed_groups = summary.run.timed_groups};
  if (reduce == nullptr) {
    run.map_time = *ended - *final.started_at;
    return run;
  }
  std::optional<absl::Time> maps_ended = map == nullptr ? std::nullopt : map->ended_at;
  if (!maps_ended && !reduce->started_at) return std::nullopt;
  // If an engine reports neither shuffles nor key groups, the reduce phase is assumed to start when
  // the map phase ends.
  const absl::Time reduces = reduce->started_at.value_or(maps_ended.value_or(*ended));
  maps_ended = std::min(maps_ended.value_or(reduces), reduces);
  run.map_time = *maps_ended - *final.started_at;
  run.shuffle_time = reduces - *maps_ended;
  run.reduce_time = *ended - reduces;
  return run;
}

namespace facts {
namespace {

class Times {
 public:
  void Add(absl::Duration time) {
    const double seconds = std::max(absl::ToDoubleSeconds(time), 0.0);
    count_ += 1;
    sum_ += seconds;
    squares_ += seconds * seconds;
  }
  bool empty() const { return count_ == 0; }
  absl::Duration mean() const { return empty() ? absl::ZeroDuration() : absl::Seconds(Mean()); }
  double variation() const {
    if (empty() || Mean() <= 0) return 0;
    return std::sqrt(std::max(squares_ / count_ - Mean() * Mean(), 0.0)) / Mean();
  }

 private:
  double Mean() const { return sum_ / count_; }
  double count_ = 0;
  double sum_ = 0;
  double squares_ = 0;
};

// Adds the times of the finished tasks, counted from `from`, and their known processor times.
// Returns the last end.
absl::Time AddFinished(std::span<const Task> tasks, absl::Time from, Times& times, Times& cpu) {
  absl::Time last = absl::InfinitePast();
  for (const Task& task : tasks) {
    const TaskAttempt* const attempt = task.finished_attempt();
    if (attempt == nullptr || !attempt->life.started_at() || !attempt->life.ended_at()) continue;
    times.Add(*attempt->life.ended_at() - std::max(*attempt->life.started_at(), from));
    if (attempt->cpu > absl::ZeroDuration()) cpu.Add(attempt->cpu);
    last = std::max(last, *attempt->life.ended_at());
  }
  return last;
}

// Returns the mean time from the last fetch of a reduce task to its first reduce function. Map
// output may arrive until `maps_ended`. Returns zero if no fetches were reported.
absl::Duration SortTime(std::span<const Task> reduce_tasks, absl::Time maps_ended) {
  Times times;
  for (const Task& task : reduce_tasks) {
    const TaskAttempt* const attempt = task.finished_attempt();
    if (attempt == nullptr || !attempt->life.shuffled_at()) continue;
    if (attempt->reduce->fetched_at == absl::InfinitePast()) continue;
    times.Add(*attempt->life.shuffled_at() - std::max(attempt->reduce->fetched_at, maps_ended));
  }
  return times.mean();
}

}  // namespace

std::optional<JobProfile> LearnProfile(const JobRecord& state, const JobSummary& summary) {
  Times maps;
  Times map_cpu;
  const absl::Time maps_ended = AddFinished(state.map_tasks(), absl::InfinitePast(), maps, map_cpu);
  if (maps.empty()) return std::nullopt;
  Times reduces;
  Times reduce_cpu;
  AddFinished(state.reduce_tasks(), maps_ended, reduces, reduce_cpu);
  const std::size_t slots = std::max(state.map_slots(), state.reduce_slots());
  return JobProfile{.slots = static_cast<std::uint32_t>(std::min<std::size_t>(slots, UINT32_MAX)),
                    .map_tasks = summary.map_tasks,
                    .reduce_tasks = summary.reduce_tasks,
                    .split_bytes = static_cast<double>(summary.map_input_bytes) /
                                   std::max<double>(summary.map_tasks, 1),
                    .map_selectivity = summary.map_selectivity().value_or(0),
                    .reduce_selectivity = summary.reduce_selectivity().value_or(0),
                    .map_task_time = maps.mean(),
                    .reduce_task_time = reduces.mean(),
                    .map_task_variation = maps.variation(),
                    .reduce_task_variation = reduces.variation(),
                    .map_cpu_time = map_cpu.mean(),
                    .reduce_cpu_time = reduce_cpu.mean(),
                    .reduce_sort_time = SortTime(state.reduce_tasks(), maps_ended)};
}

JobSummary Summarize(const JobRecord& state) {
  JobSummary summary;
  if (state.opened) {
    summary.name = HistoryNameOf(*state.opened);
    summary.engine = state.opened->engine;
  }
  summary.map_tasks = static_cast<std::uint32_t>(state.map_tasks().size());
  summary.reduce_tasks = static_cast<std::uint32_t>(state.reduce_tasks().size());
  for (const Task& task : state.map_tasks()) {
    summary.map_input_bytes = SaturatingAdd(summary.map_input_bytes, task.input_bytes.value_or(0));
  }
  summary.map_output_bytes = state.keys.total_bytes();
  streaming::SizeHistogram bins;
  for (const Task& task : state.reduce_tasks()) {
    bins.Merge(task.finished_groups().bins);
    bins.Merge(task.finished_groups().cold_bins);
    // Only the finished attempt counts, since other attempts repeat its work.
    const TaskAttempt* const attempt = task.finished_attempt();
    if (attempt == nullptr) continue;
    summary.reduce_groups = SaturatingAdd(summary.reduce_groups, attempt->reduce->groups_done);
    summary.reduce_input_bytes = SaturatingAdd(summary.reduce_input_bytes, attempt->bytes_done);
    summary.reduce_time += attempt->reduce->reduce_time;
  }
  summary.bins = bins.bins();
  for (const GroupBin& bin : summary.bins) {
    summary.reduce_output_bytes = SaturatingAdd(summary.reduce_output_bytes, bin.emitted_bytes);
  }
  summary.profile = LearnProfile(state, summary);
  return summary;
}

}  // namespace facts
}  // namespace tidemark
