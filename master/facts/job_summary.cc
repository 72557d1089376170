#include "master/facts/job_summary.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

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
  absl::Time starts = *final.started_at;
  if (map != nullptr && map->started_at) starts = facts::MapSideStart(starts, *map->started_at);
  if (reduce == nullptr) {
    run.map_time = *ended - starts;
    return run;
  }
  std::optional<absl::Time> maps_ended = map == nullptr ? std::nullopt : map->ended_at;
  if (!maps_ended && !reduce->started_at) return std::nullopt;
  // If an engine reports neither shuffles nor key groups, the reduce phase is assumed to start when
  // the map phase ends.
  const absl::Time reduces = reduce->started_at.value_or(maps_ended.value_or(*ended));
  maps_ended = std::min(maps_ended.value_or(reduces), reduces);
  run.map_time = std::max(*maps_ended - starts, absl::ZeroDuration());
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

// The times of the finished tasks of a phase.
struct FinishedTimes {
  Times times;
  // Known processor times; `start_cpu` is the part of the start.
  Times cpu;
  Times start_cpu;
};

// Adds the times of the finished tasks. Times before `from` do not count. A task that started
// earlier is assumed to have finished its start-up by then. Returns the last end.
absl::Time AddFinished(std::span<const Task> tasks, absl::Time from, FinishedTimes& finished) {
  absl::Time last = absl::InfinitePast();
  for (const Task& task : tasks) {
    const TaskAttempt* const attempt = task.finished_attempt();
    if (attempt == nullptr || !attempt->life.started_at() || !attempt->life.ended_at()) continue;
    const absl::Time started_at = *attempt->life.started_at();
    finished.times.Add(*attempt->life.ended_at() - std::max(started_at, from));
    if (attempt->cpu > absl::ZeroDuration()) {
      const bool is_started = started_at < from;
      const absl::Duration start = is_started ? absl::ZeroDuration() : attempt->start_cpu;
      finished.cpu.Add(is_started ? attempt->cpu - attempt->start_cpu : attempt->cpu);
      if (is_started || start > absl::ZeroDuration()) finished.start_cpu.Add(start);
    }
    last = std::max(last, *attempt->life.ended_at());
  }
  return last;
}

// Adds the idle times of slots between tasks of a phase. Each task that starts after others have
// ended takes the slot of the last one to end, so slots that other jobs took are mostly ignored.
void AddIdleTimes(std::span<const Task> tasks, std::vector<absl::Duration>& idle) {
  // Starts come after simultaneous ends.
  std::vector<std::pair<absl::Time, bool>> changes;
  for (const Task& task : tasks) {
    for (const auto& [id, attempt] : task.attempts) {
      if (!attempt.life.started_at()) continue;
      changes.emplace_back(*attempt.life.started_at(), true);
      if (attempt.life.ended_at()) changes.emplace_back(*attempt.life.ended_at(), false);
    }
  }
  std::sort(changes.begin(), changes.end());
  std::vector<absl::Time> free_since;
  for (const auto& [at, is_start] : changes) {
    if (!is_start) {
      free_since.push_back(at);
    } else if (!free_since.empty()) {
      idle.push_back(at - free_since.back());
      free_since.pop_back();
    }
  }
}

// Fewer idle times do not show what is usual. Chosen by hand.
constexpr std::size_t kIdleTimesMin = 8;

// Returns the median idle time of a slot between two tasks of a phase, or zero if there are fewer
// than kIdleTimesMin.
absl::Duration SlotIdleTime(const JobRecord& state) {
  std::vector<absl::Duration> idle;
  AddIdleTimes(state.map_tasks(), idle);
  AddIdleTimes(state.reduce_tasks(), idle);
  if (idle.size() < kIdleTimesMin) return absl::ZeroDuration();
  const auto middle = idle.begin() + static_cast<std::ptrdiff_t>(idle.size() / 2);
  std::nth_element(idle.begin(), middle, idle.end());
  return *middle;
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

// Returns the bytes that the finished attempts emitted, as their heartbeats report.
std::uint64_t EmittedBytes(std::span<const Task> tasks) {
  std::uint64_t bytes = 0;
  for (const Task& task : tasks) {
    const TaskAttempt* const attempt = task.finished_attempt();
    if (attempt != nullptr) bytes = SaturatingAdd(bytes, attempt->bytes_emitted);
  }
  return bytes;
}

}  // namespace

std::optional<JobProfile> LearnProfile(const JobRecord& state, const JobSummary& summary) {
  FinishedTimes maps;
  const absl::Time maps_ended = AddFinished(state.map_tasks(), absl::InfinitePast(), maps);
  if (maps.times.empty()) return std::nullopt;
  FinishedTimes reduces;
  AddFinished(state.reduce_tasks(), maps_ended, reduces);
  const std::size_t slots = std::max(state.map_slots(), state.reduce_slots());
  return JobProfile{.slots = static_cast<std::uint32_t>(std::min<std::size_t>(slots, UINT32_MAX)),
                    .map_tasks = summary.map_tasks,
                    .reduce_tasks = summary.reduce_tasks,
                    .split_bytes = static_cast<double>(summary.map_input_bytes) /
                                   std::max<double>(summary.map_tasks, 1),
                    .map_selectivity = summary.map_selectivity().value_or(0),
                    .reduce_selectivity = summary.reduce_selectivity().value_or(0),
                    .map_task_time = maps.times.mean(),
                    .reduce_task_time = reduces.times.mean(),
                    .map_task_variation = maps.times.variation(),
                    .reduce_task_variation = reduces.times.variation(),
                    .map_cpu_time = maps.cpu.mean(),
                    .reduce_cpu_time = reduces.cpu.mean(),
                    .map_start_cpu_time = maps.start_cpu.mean(),
                    .reduce_start_cpu_time = reduces.start_cpu.mean(),
                    .slot_idle_time = SlotIdleTime(state),
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
  // Logs of an engine have counters instead of key groups.
  if (summary.map_output_bytes == 0) summary.map_output_bytes = EmittedBytes(state.map_tasks());
  if (summary.reduce_output_bytes == 0) {
    summary.reduce_output_bytes = EmittedBytes(state.reduce_tasks());
  }
  summary.profile = LearnProfile(state, summary);
  return summary;
}

}  // namespace facts
}  // namespace tidemark
