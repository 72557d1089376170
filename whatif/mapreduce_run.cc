#include "whatif/mapreduce_run.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace tidemark::whatif {
namespace {

constexpr const char* kMapName = "map";
constexpr const char* kReduceName = "reduce";
// Maximum number of task times of a stage. Larger stages are sampled evenly.
constexpr std::size_t kMapReduceTimesMax = 10'000;

// Returns the largest number of attempts that ran at once. An attempt that ends frees its slot
// before another attempt starts at the same time.
std::uint32_t MostAtOnce(const JobTasks& tasks) {
  std::vector<std::pair<absl::Time, int>> changes;
  for (const TaskProgress& task : tasks.tasks) {
    if (!task.started_at || !task.ended_at) continue;
    changes.emplace_back(*task.started_at, 1);
    changes.emplace_back(*task.ended_at, -1);
  }
  std::ranges::sort(changes);
  std::int64_t running = 0;
  std::int64_t most = 1;
  for (const auto& change : changes) most = std::max(most, running += change.second);
  return static_cast<std::uint32_t>(most);
}

std::vector<absl::Duration> Sampled(std::vector<absl::Duration> times) {
  if (times.size() <= kMapReduceTimesMax) return times;
  std::ranges::sort(times);
  std::vector<absl::Duration> sample;
  for (std::size_t i = 0; i < kMapReduceTimesMax; ++i) {
    sample.push_back(times[i * times.size() / kMapReduceTimesMax]);
  }
  return sample;
}

struct SizedTime {
  double bytes = 0;
  double seconds = 0;
};

// See MapReduceRunOf().
double FixedShare(const std::vector<SizedTime>& tasks) {
  constexpr std::size_t kTasksMin = 3;
  constexpr double kExplainedMin = 0.5;
  if (tasks.size() < kTasksMin) return 0;
  const auto count = static_cast<double>(tasks.size());
  double bytes = 0;
  double seconds = 0;
  double least = tasks.front().seconds;
  for (const SizedTime& task : tasks) {
    bytes += task.bytes / count;
    seconds += task.seconds / count;
    least = std::min(least, task.seconds);
  }
  double squares = 0;
  double products = 0;
  double variance = 0;
  for (const SizedTime& task : tasks) {
    squares += (task.bytes - bytes) * (task.bytes - bytes);
    products += (task.bytes - bytes) * (task.seconds - seconds);
    variance += (task.seconds - seconds) * (task.seconds - seconds);
  }
  if (!(squares > 0) || !(products > 0) || !(variance > 0)) return 0;
  if (products * products < kExplainedMin * squares * variance) return 0;
  return std::clamp(seconds - products / squares * bytes, 0.0, least) / seconds;
}

}  // namespace

std::optional<MapReduceRun> MapReduceRunOf(
    const JobTasks& tasks, absl::Time started_at,
    const std::map<std::uint32_t, std::uint64_t>& reduce_bytes) {
  std::vector<const TaskProgress*> maps;
  std::vector<const TaskProgress*> reduces;
  for (const TaskProgress& task : tasks.tasks) {
    if (task.state != AttemptState::kFinished || !task.started_at || !task.ended_at) continue;
    (task.attempt.stage == kMapStage ? maps : reduces).push_back(&task);
  }
  MapReduceRun run;
  PlannedJob job;
  absl::Time maps_end = started_at;
  if (!maps.empty()) {
    PlannedStage stage = {.name = kMapName, .task_count = maps.size()};
    absl::Time first = absl::InfiniteFuture();
    std::vector<absl::Duration> times;
    for (const TaskProgress* map : maps) {
      first = std::min(first, *map->started_at);
      maps_end = std::max(maps_end, *map->ended_at);
      times.push_back(*map->ended_at - *map->started_at);
    }
    stage.lag = std::max(first - started_at, absl::ZeroDuration());
    stage.task_times = Sampled(std::move(times));
    job.stages.push_back(std::move(stage));
  }
  if (!reduces.empty()) {
    PlannedStage stage = {.name = kReduceName, .task_count = reduces.size()};
    if (!maps.empty()) stage.after = {kMapName};
    absl::Time first = absl::InfiniteFuture();
    std::vector<absl::Duration> early;
    std::vector<absl::Duration> late;
    std::vector<SizedTime> sized;
    for (const TaskProgress* reduce : reduces) {
      first = std::min(first, *reduce->started_at);
      const absl::Duration time = std::max(
          *reduce->ended_at - std::max(*reduce->started_at, maps_end), absl::ZeroDuration());
      (*reduce->started_at < maps_end ? early : late).push_back(time);
      const auto bytes = reduce_bytes.find(reduce->attempt.index);
      if (bytes == reduce_bytes.end()) continue;
      sized.push_back({static_cast<double>(bytes->second), absl::ToDoubleSeconds(time)});
    }
    run.reduce_fixed_share = FixedShare(sized);
    stage.lag = std::max(first - maps_end, absl::ZeroDuration());
    if (!late.empty()) stage.first_task_times = Sampled(early);
    stage.task_times = Sampled(std::move(late.empty() ? early : late));
    job.stages.push_back(std::move(stage));
  }
  if (job.stages.empty()) return std::nullopt;
  run.plan.jobs.push_back(std::move(job));
  run.plan.cluster.slots = MostAtOnce(tasks);
  return run;
}

absl::StatusOr<Plan> WithReduceTasks(const Plan& plan, double reduce_fixed_share,
                                     std::uint32_t reduce_tasks) {
  Plan other = plan;
  PlannedStage& stage = other.jobs.front().stages.back();
  if (stage.name != kReduceName || stage.task_count == 0) {
    return absl::FailedPreconditionError("the job has no finished reduce tasks");
  }
  absl::Duration sum;
  std::size_t count = 0;
  for (const auto* times : {&stage.task_times, &stage.first_task_times}) {
    for (const absl::Duration time : *times) sum += time;
    count += times->size();
  }
  const absl::Duration fixed = sum * (reduce_fixed_share / static_cast<double>(count));
  const double factor = static_cast<double>(stage.task_count) / reduce_tasks;
  for (auto* times : {&stage.task_times, &stage.first_task_times}) {
    for (absl::Duration& time : *times) {
      const absl::Duration part = std::min(fixed, time);
      time = part + (time - part) * factor;
    }
  }
  stage.task_count = reduce_tasks;
  return other;
}

}  // namespace tidemark::whatif
