#include "master/forecast/dag/job_estimate.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "master/facts/phases.h"
#include "master/forecast/dag/task_estimate.h"
#include "master/forecast/dag/task_model.h"
#include "master/forecast/durations/combined_estimates.h"

namespace tidemark::dag {
namespace {

// The split of a map task if its bytes are unknown; it cancels out.
constexpr double kUnknownSplit = 1;
// A throughput so high that it never limits a task.
constexpr double kUnbound = 1e18;

ResourceProfile Unbound(const std::optional<ResourceProfile>& known_node) {
  const auto speed = [](double known) { return known > 0 ? known : kUnbound; };
  const ResourceProfile node = known_node.value_or(ResourceProfile{});
  return {.disk_read = speed(node.disk_read),
          .disk_write = speed(node.disk_write),
          .dfs_read = speed(node.dfs_read),
          .dfs_write = speed(node.dfs_write),
          .network = speed(node.network),
          .cores = node.cores > 0 ? node.cores : kUnbound};
}

// The data and parallelism of a run.
struct Conditions {
  double split_bytes = 0;
  double map_tasks = 1;
  double reduce_tasks = 1;
  double slots = 1;
};

struct ModelledTasks {
  double map_seconds = 0;
  double reduce_seconds = 0;
  std::string map_bottleneck;
  std::string reduce_bottleneck;
};

// Bottleneck oriented estimation of one job's tasks. The throughput of a core follows from the
// measured task time.
class Model {
 public:
  // Without a node, only the processors take time.
  Model(const JobProfile& run, const std::optional<ResourceProfile>& node, double nodes,
        const Conditions& measured)
      : node_(Unbound(node)), nodes_(std::max(nodes, 1.0)) {
    const auto or_one = [](double selectivity) { return selectivity > 0 ? selectivity : 1; };
    profile_.map_selectivity = or_one(run.map_selectivity);
    // [BOE] eq. 5 relates the output to the split; a run relates it to the reduce input.
    profile_.reduce_selectivity = or_one(run.reduce_selectivity) * profile_.map_selectivity;
    profile_.map_throughput = measured.split_bytes / Seconds(run.map_task_time);
    profile_.reduce_throughput = ReduceBytes(measured) / Seconds(run.reduce_task_time);
  }

  ModelledTasks At(const Conditions& conditions) {
    MapReduceProfile at = profile_;
    at.split_bytes = conditions.split_bytes;
    at.map_tasks = conditions.map_tasks;
    at.reduce_tasks = conditions.reduce_tasks;
    const auto per_node = [&](double tasks) {
      return std::max(std::min(tasks, conditions.slots) / nodes_, facts::kShareMin);
    };
    ModelledTasks tasks;
    const auto map = EstimateTask(MapTask(at), node_, per_node(conditions.map_tasks));
    const auto reduce =
        EstimateTask(ReduceTask(at, nodes_), node_, per_node(conditions.reduce_tasks));
    if (map.ok()) {
      tasks.map_seconds = absl::ToDoubleSeconds(map->total);
      tasks.map_bottleneck = std::string(NameOf(map->bottleneck));
    }
    if (reduce.ok()) {
      tasks.reduce_seconds = absl::ToDoubleSeconds(reduce->total);
      tasks.reduce_bottleneck = std::string(NameOf(reduce->bottleneck));
    }
    return tasks;
  }

 private:
  static double Seconds(absl::Duration time) {
    return std::max(absl::ToDoubleSeconds(time), kTaskSecondsMin);
  }
  double ReduceBytes(const Conditions& measured) const {
    return profile_.map_selectivity * measured.split_bytes * measured.map_tasks /
           std::max(measured.reduce_tasks, 1.0);
  }

  const ResourceProfile node_;
  const double nodes_;
  MapReduceProfile profile_;
};

// The mean of ln(seconds) and the variation of the tasks, over several runs.
class Mean {
 public:
  // `usual_deviation`: of ln(seconds) between runs of the same work.
  explicit Mean(double usual_deviation) : usual_(usual_deviation) {}
  void Add(double seconds, double variation) {
    logs_.push_back(std::log(std::max(seconds, kTaskSecondsMin)));
    variations_ += variation;
  }
  bool empty() const { return logs_.empty(); }
  double seconds() const { return std::exp(LogMean()); }
  durations::TimeDistribution times() const {
    if (empty()) return {};
    const double deviation = seconds() * variations_ / static_cast<double>(logs_.size());
    return durations::TimeDistribution::Normal(
        {.mean = seconds(), .variance = deviation * deviation});
  }
  // Returns the variance of ln(seconds) of the next run.
  double variance() const {
    const double count = static_cast<double>(logs_.size());
    double squares = 0;
    for (const double log : logs_) squares += (log - LogMean()) * (log - LogMean());
    const double run =
        (durations::kPriorCount * usual_ * usual_ + squares) / (durations::kPriorCount + count - 1);
    return run * (1 + 1 / count);
  }

 private:
  double LogMean() const {
    double sum = 0;
    for (const double log : logs_) sum += log;
    return sum / static_cast<double>(logs_.size());
  }
  const double usual_;
  std::vector<double> logs_;
  double variations_ = 0;
};

Conditions MeasuredConditions(const JobProfile& run, const Cluster& cluster) {
  return {.split_bytes = run.split_bytes,
          .map_tasks = std::max<double>(run.map_tasks, 1),
          .reduce_tasks = std::max<double>(run.reduce_tasks, 1),
          .slots = run.slots > 0 ? run.slots : static_cast<double>(cluster.slots)};
}

// Returns the conditions by the plan, else by the last run.
Conditions AskedConditions(const PlannedJob& job, const JobProfile& last, const Cluster& cluster,
                           double data_factor) {
  double map_tasks = job.map_task_count.value_or(last.map_tasks);
  double split_bytes = last.split_bytes;
  if (job.input_bytes && split_bytes > 0) {
    const double input_bytes = static_cast<double>(*job.input_bytes);
    if (job.map_task_count) {
      split_bytes = input_bytes / map_tasks;
    } else {
      map_tasks = std::ceil(input_bytes / split_bytes);
    }
  }
  map_tasks = std::ceil(std::max(map_tasks * data_factor, 1.0));
  return {.split_bytes = split_bytes,
          .map_tasks = map_tasks,
          .reduce_tasks = static_cast<double>(job.reduce_task_count.value_or(last.reduce_tasks)),
          .slots = static_cast<double>(cluster.slots)};
}

}  // namespace

JobEstimate EstimateJobTasks(const PlannedJob& job, std::span<const JobProfile> runs,
                             const Cluster& cluster, double data_factor) {
  std::vector<JobProfile> all;
  if (job.profile) all.push_back(*job.profile);
  all.insert(all.end(), runs.begin(), runs.end());
  JobEstimate expected;
  if (all.empty()) {
    expected.map.tasks =
        static_cast<std::uint64_t>(std::ceil(job.map_task_count.value_or(0) * data_factor));
    expected.reduce.tasks = job.reduce_task_count.value_or(0);
    return expected;
  }
  const Conditions asked = AskedConditions(job, all.front(), cluster, data_factor);
  // Map tasks do not fetch from other tasks; reduce tasks do.
  Mean map(EstimateConstants().root_run_deviation);
  Mean reduce(EstimateConstants().run_deviation);
  for (const JobProfile& run : all) {
    Conditions then = MeasuredConditions(run, cluster);
    Conditions now = asked;
    const bool is_split_known = then.split_bytes > 0 && now.split_bytes > 0;
    // The speed of a node is meaningless for tasks without known bytes. More map tasks still mean
    // more data for each reduce task.
    if (!is_split_known) then.split_bytes = now.split_bytes = kUnknownSplit;
    const std::optional<ResourceProfile> node = is_split_known ? cluster.node : std::nullopt;
    Model model(run, node, cluster.nodes, then);
    const ModelledTasks before = model.At(then);
    const ModelledTasks modelled = model.At(now);
    const double map_ratio = before.map_seconds > 0 ? modelled.map_seconds / before.map_seconds : 1;
    const double reduce_ratio =
        before.reduce_seconds > 0 ? modelled.reduce_seconds / before.reduce_seconds : 1;
    if (node && map.empty()) {
      expected.map.bottleneck = modelled.map_bottleneck;
      expected.reduce.bottleneck = modelled.reduce_bottleneck;
    }
    map.Add(absl::ToDoubleSeconds(run.map_task_time) * map_ratio, run.map_task_variation);
    if (run.reduce_tasks > 0) {
      reduce.Add(absl::ToDoubleSeconds(run.reduce_task_time) * reduce_ratio,
                 run.reduce_task_variation);
    }
  }
  expected.is_known = true;
  expected.map.tasks = static_cast<std::uint64_t>(asked.map_tasks);
  expected.map.times = map.times();
  expected.reduce.tasks = static_cast<std::uint64_t>(asked.reduce_tasks);
  expected.reduce.times = reduce.empty() ? map.times() : reduce.times();
  const double map_work = asked.map_tasks * map.seconds();
  const double reduce_work = reduce.empty() ? 0 : asked.reduce_tasks * reduce.seconds();
  const double variance =
      map.variance() * map_work + (reduce_work > 0 ? reduce.variance() * reduce_work : 0);
  expected.deviation = std::sqrt(variance / std::max(map_work + reduce_work, kTaskSecondsMin));
  return expected;
}

std::shared_ptr<const StageRuns> WithData(std::shared_ptr<const StageRuns> runs,
                                          double data_factor) {
  if (runs == nullptr || data_factor == 1) return runs;
  StageRuns scaled = *runs;
  for (PastRun& run : scaled) {
    for (PastStage& stage : run.stages) {
      if (stage.parents.empty()) {
        const double tasks = std::ceil(static_cast<double>(stage.tasks) * data_factor);
        stage.tasks = static_cast<std::uint64_t>(std::clamp(tasks, 1.0, 1e15));
        continue;
      }
      for (auto& seconds : stage.seconds) {
        for (double& time : seconds) time *= data_factor;
      }
      for (LongTask& task : stage.long_tasks) task.more_seconds *= data_factor;
    }
  }
  return std::make_shared<const StageRuns>(std::move(scaled));
}

JobProfile AsOnePhase(const PastRun& run) {
  JobProfile profile = {.slots = static_cast<std::uint32_t>(std::clamp(run.slots, 1.0, 1e9))};
  double tasks = 0;
  double sum = 0;
  double squares = 0;
  for (const PastStage& stage : run.stages) {
    const double count = static_cast<double>(stage.tasks);
    const double mean = MeanTaskSeconds(stage);
    tasks += count;
    sum += count * mean;
    squares += count * mean * mean;
  }
  if (!(sum > 0) || !std::isfinite(squares)) return profile;
  const double mean = sum / tasks;
  profile.map_tasks = static_cast<std::uint32_t>(std::min(tasks, 4e9));
  profile.map_task_time = absl::Seconds(mean);
  profile.map_task_variation = std::sqrt(std::max(squares / tasks - mean * mean, 0.0)) / mean;
  return profile;
}

double MeanTaskSeconds(const PastStage& stage) {
  double sum = 0;
  double count = 0;
  for (const auto& seconds : stage.seconds) {
    for (const double time : seconds) sum += time;
    count += static_cast<double>(seconds.size());
  }
  return count > 0 ? sum / count : 0;
}

double SecondsAlone(const JobEstimate& expected, double slots) {
  const auto phase = [&](const PhaseEstimate& tasks) {
    const double waves = std::max(static_cast<double>(tasks.tasks) / slots, 1.0);
    return tasks.tasks > 0 ? waves * tasks.times.mean() : 0;
  };
  return phase(expected.map) + phase(expected.reduce);
}

}  // namespace tidemark::dag
