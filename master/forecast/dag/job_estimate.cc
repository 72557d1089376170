#include "master/forecast/dag/job_estimate.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "master/facts/phases.h"
#include "master/forecast/dag/application_forecast.h"
#include "master/forecast/dag/task_estimate.h"
#include "master/forecast/dag/task_model.h"
#include "master/forecast/durations/combined_estimates.h"

namespace tidemark::dag {
namespace {

// Split size of a map task if its bytes are unknown. The value cancels out.
constexpr double kUnknownSplit = 1;
// A throughput so high that it never limits a task.
constexpr double kUnbound = 1e18;
// Ratio of standard deviation to mean of a stage's task times, if not recorded. Chosen by hand.
constexpr double kUsualVariation = 0.1;
// If a task's processor time is unknown, reads, writes and transfers limit the task if they take at
// least this share of its time.
constexpr double kMostOfTheTime = 0.5;

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

// Components of a measured task time.
struct Parts {
  absl::Duration load;
  double core_seconds = kTaskSecondsMin;
  // Ratio of measured to modelled time of reads, writes and transfers, at most 1. Caches serve the
  // rest (gamma in [BOE] Table 1).
  double slow_share = 1;
};

// The measured times of a task. A processor time of 0 is unknown.
struct Measured {
  double seconds = 0;
  double core_seconds = 0;
};

// Splits a measured time into its components. `task` is the model with unlimited processors.
// `computing` is the index of the sub-stage that computes while it reads or writes.
Parts Separate(const TaskModel& task, std::size_t computing, const Measured& measured,
               const ResourceProfile& node, double per_node) {
  Parts parts;
  const auto moving = EstimateTask(task, node, per_node);
  const double moves = moving.ok() ? absl::ToDoubleSeconds(moving->total) : 0;
  if (moves > measured.seconds) {
    parts.slow_share = std::max(measured.seconds / moves, facts::kShareMin);
  }
  const double beside = moving.ok() ? absl::ToDoubleSeconds(moving->sub_stages[computing].time) : 0;
  const double others = (moves - beside) * parts.slow_share;
  // The tasks of a crowded node share its cores.
  const double crowd = std::max(per_node / node.cores, 1.0);
  const double core_seconds_max = (measured.seconds - others) / crowd;
  if (measured.core_seconds > 0) {
    parts.core_seconds = std::min(measured.core_seconds, core_seconds_max);
  } else if (moves <= measured.seconds * kMostOfTheTime) {
    parts.core_seconds = core_seconds_max;
  }
  parts.core_seconds = std::max(parts.core_seconds, kTaskSecondsMin);
  const double computes = std::max(parts.core_seconds * crowd, beside * parts.slow_share);
  parts.load = absl::Seconds(std::max(measured.seconds - others - computes, 0.0));
  return parts;
}

// Returns `node` with the speeds that tasks with these components get.
ResourceProfile NodeFor(const Parts& parts, ResourceProfile node) {
  for (double* speed :
       {&node.disk_read, &node.disk_write, &node.dfs_read, &node.dfs_write, &node.network}) {
    *speed /= parts.slow_share;
  }
  return node;
}

// Returns the number of tasks of a stage on a node; at least 1.
double PerNode(double tasks, double slots, double nodes) {
  return std::max(std::min(tasks, slots) / std::max(nodes, 1.0), 1.0);
}

// One phase of a job under given conditions.
struct ModelledPhase {
  double seconds = 0;  // task time while the phase fills the slots; 0 if unknown
  std::string bottleneck;
  TaskDemandAlone alone;
};

struct ModelledTasks {
  ModelledPhase map;
  ModelledPhase reduce;
};

ModelledPhase PhaseOn(const TaskModel& task, const ResourceProfile& node, double per_node) {
  const auto time = EstimateTask(task, node, per_node);
  auto alone = DemandOf(task, node);
  if (!time.ok() || !alone.ok()) return {};
  // Time that no resource explains may be the longest component.
  const bool is_load = std::ranges::all_of(
      time->sub_stages, [&](const SubStageTime& part) { return part.time < task.load; });
  return {.seconds = absl::ToDoubleSeconds(time->total),
          .bottleneck = is_load ? "" : std::string(NameOf(time->bottleneck)),
          .alone = *std::move(alone)};
}

// Returns the ratio of the tasks' mean time to their time alone, if no other tasks run on the
// cluster.
double StretchOf(const placement::TaskDemand& demand, double tasks, double slots, double variation,
                 const Cluster& cluster) {
  const std::vector<placement::SharedHost> hosts = HostsOf(cluster);
  if (hosts.empty()) return 1;
  const double nodes = std::max(static_cast<double>(cluster.nodes), 1.0);
  placement::SharedHost node = hosts.front();
  node.processors /= node.nodes;
  node.nodes = 1;
  return placement::MeanStretch(demand, node, tasks / nodes, slots / nodes, variation);
}

// Bottleneck oriented estimation of one job's tasks. The speed of a core is computed from the
// measured task times and from the times of reads, writes and transfers.
class Model {
 public:
  // If `node` is unset, only the processors take time.
  Model(const JobProfile& run, const std::optional<ResourceProfile>& node, double nodes,
        const Conditions& measured)
      : node_(Unbound(node)),
        nodes_(std::max(nodes, 1.0)),
        // The measured network speed of a single node applies unchanged.
        executors_(nodes_ > 1 ? nodes_ : 0) {
    const auto or_one = [](double selectivity) { return selectivity > 0 ? selectivity : 1; };
    profile_.map_selectivity = or_one(run.map_selectivity);
    // In [BOE] eq. 5, the selectivity relates the output to the split; in a run, it relates the
    // output to the reduce input.
    profile_.reduce_selectivity = or_one(run.reduce_selectivity) * profile_.map_selectivity;
    profile_.map_throughput = profile_.reduce_throughput = kUnbound;
    const MapReduceProfile then = At(measured, {});
    map_ = Separate(MapTask(then), /*computing=*/0,
                    {Seconds(run.map_task_time), absl::ToDoubleSeconds(run.map_cpu_time)}, node_,
                    PerNode(measured.map_tasks, measured.slots, nodes_));
    profile_.map_throughput = measured.split_bytes / map_.core_seconds;
    const double per_node = PerNode(measured.reduce_tasks, measured.slots, nodes_);
    const double sort_core_seconds = SetSort(run, ReduceBytes(measured), per_node);
    double core_seconds = absl::ToDoubleSeconds(run.reduce_cpu_time);
    if (core_seconds > 0)
      core_seconds = std::max(core_seconds - sort_core_seconds, kTaskSecondsMin);
    reduce_ = Separate(ReduceTask(At(measured, {}), executors_), /*computing=*/2,
                       {Seconds(run.reduce_task_time), core_seconds}, node_, per_node);
    profile_.reduce_throughput = ReduceBytes(measured) / reduce_.core_seconds;
  }

  ModelledTasks Estimate(const Conditions& conditions) const {
    return {
        .map = PhaseOn(MapTask(At(conditions, map_)), NodeFor(map_, node_),
                       PerNode(conditions.map_tasks, conditions.slots, nodes_)),
        .reduce = PhaseOn(ReduceTask(At(conditions, reduce_), executors_), NodeFor(reduce_, node_),
                          PerNode(conditions.reduce_tasks, conditions.slots, nodes_))};
  }

 private:
  // Sets the sort sub-stage ([BOE] eq. 5) from its measured time, and returns its core seconds. If
  // alpha_s is unknown, it is the largest share that the disk can write in that time.
  double SetSort(const JobProfile& run, double input_bytes, double per_node) {
    const double seconds = absl::ToDoubleSeconds(run.reduce_sort_time);
    profile_.sort_throughput = kUnbound;
    profile_.second_sort_fraction = run.second_sort_fraction;
    if (!(seconds > 0)) return 0;
    if (!(run.second_sort_fraction > 0)) {
      const double written_bytes = seconds * node_.disk_write / per_node;
      profile_.second_sort_fraction =
          std::clamp(written_bytes / input_bytes, facts::kShareMin, 1.0);
    }
    const double core_seconds = seconds / std::max(per_node / node_.cores, 1.0);
    profile_.sort_throughput = profile_.second_sort_fraction * input_bytes / core_seconds;
    return core_seconds;
  }

  static double Seconds(absl::Duration time) {
    return std::max(absl::ToDoubleSeconds(time), kTaskSecondsMin);
  }

  MapReduceProfile At(const Conditions& conditions, const Parts& parts) const {
    MapReduceProfile at = profile_;
    at.load = parts.load;
    at.split_bytes = conditions.split_bytes;
    at.map_tasks = conditions.map_tasks;
    at.reduce_tasks = conditions.reduce_tasks;
    return at;
  }

  double ReduceBytes(const Conditions& measured) const {
    return profile_.map_selectivity * measured.split_bytes * measured.map_tasks /
           std::max(measured.reduce_tasks, 1.0);
  }

  const ResourceProfile node_;
  const double nodes_;
  const double executors_;  // argument of ReduceTask()
  MapReduceProfile profile_;
  Parts map_;
  Parts reduce_;
};

// The mean of ln(seconds), and the variation of the tasks, over several runs.
class Mean {
 public:
  // `usual_deviation` is the deviation of ln(seconds) between runs of the same work.
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

// Returns the conditions in the plan, or the conditions of the last run if the plan has none.
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

namespace {

// Sets the bottleneck, the demand and the time alone of `phase`. `measured` is the phase under the
// conditions of the run, which had `tasks` tasks on `slots` slots.
void Describe(const ModelledPhase& modelled, const ModelledPhase& measured, double tasks,
              double slots, double variation, const Cluster& cluster, PhaseEstimate& phase) {
  phase.bottleneck = modelled.bottleneck;
  if (!(modelled.seconds > 0) || !(measured.alone.seconds > 0)) return;
  phase.demand = modelled.alone.parts;
  // EstimateTask() assumes that all tasks of a node are in the same part of their work.
  const double in_step = measured.seconds / measured.alone.seconds;
  phase.alone = modelled.alone.seconds / modelled.seconds * in_step /
                StretchOf(measured.alone.parts, tasks, slots, variation, cluster);
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
  // Map tasks do not fetch from other tasks, but reduce tasks do.
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
    const Model model(run, node, cluster.nodes, then);
    const ModelledTasks before = model.Estimate(then);
    const ModelledTasks modelled = model.Estimate(now);
    const auto ratio = [](const ModelledPhase& other, const ModelledPhase& measured) {
      return measured.seconds > 0 ? other.seconds / measured.seconds : 1;
    };
    if (node && map.empty()) {
      Describe(modelled.map, before.map, then.map_tasks, then.slots, run.map_task_variation,
               cluster, expected.map);
      Describe(modelled.reduce, before.reduce, then.reduce_tasks, then.slots,
               run.reduce_task_variation, cluster, expected.reduce);
    }
    map.Add(absl::ToDoubleSeconds(run.map_task_time) * ratio(modelled.map, before.map),
            run.map_task_variation);
    if (run.reduce_tasks > 0) {
      reduce.Add(
          absl::ToDoubleSeconds(run.reduce_task_time) * ratio(modelled.reduce, before.reduce),
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

durations::MeasuredTask MeasuredTaskOf(const PastStage& stage) {
  return {.seconds = MeanTaskSeconds(stage),
          .cpu_seconds = stage.cpu_seconds,
          .read_bytes = stage.read_bytes / std::max(static_cast<double>(stage.tasks), 1.0),
          .fetches = stage.fetches && !stage.parents.empty()};
}

StageDemand DemandOf(const durations::MeasuredTask& measured, double tasks, double slots,
                     const Cluster& cluster) {
  StageDemand demand;
  if (!cluster.node || !(measured.cpu_seconds > 0) || !(measured.seconds > 0)) return demand;
  const ResourceProfile node = Unbound(cluster.node);
  const double nodes = std::max<double>(cluster.nodes, 1);
  const double bytes = measured.read_bytes;
  const bool fetches = measured.fetches;
  const double remote = nodes > 1 ? 1 - 1 / nodes : 1;
  TaskModel task = {
      .sub_stages = {{.name = "compute",
                      .operations = {{Resource::kDfsRead, fetches ? 0 : bytes},
                                     {Resource::kDiskRead, fetches ? bytes : 0},
                                     {Resource::kNetwork, fetches ? remote * bytes : 0}}}}};
  const double per_node = PerNode(tasks, slots, nodes);
  const Parts parts =
      Separate(task, /*computing=*/0, {measured.seconds, measured.cpu_seconds}, node, per_node);
  task.load = parts.load;
  // One unit of work per second of a core.
  task.sub_stages[0].operations.push_back({Resource::kCpu, parts.core_seconds, 1});
  ModelledPhase phase = PhaseOn(task, NodeFor(parts, node), per_node);
  const double stretch = StretchOf(phase.alone.parts, tasks, slots, kUsualVariation, cluster);
  return {.parts = std::move(phase.alone.parts), .alone = 1 / stretch};
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
