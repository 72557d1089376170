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
#include "master/forecast/placement/root.h"

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
// TaskPart::overlap of a map task's reads and computing. One thread reads and computes, so only the
// read-ahead overlaps. Chosen by hand for the runs of bench/hadoop/boe.py.
constexpr double kMapOverlap = 0.7;
// The components of a task explain its measured time to within this share.
constexpr double kFitTolerance = 1e-3;
// Limits the cost of a fit.
constexpr int kFitRounds = 12;

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
  absl::Duration load;                    // time that no resource explains
  double start_core_seconds = 0;          // processor time before the task reads its data
  double core_seconds = kTaskSecondsMin;  // processor time after that
  // Share of the modelled reads, writes and transfers that takes place. Caches serve the rest
  // (gamma in [BOE] Table 1).
  double slow_share = 1;
};

// The measured times of a task. A processor time of 0 is unknown.
struct Measured {
  double seconds = 0;
  double core_seconds = 0;
  double start_core_seconds = 0;  // part of `core_seconds`
};

// Splits a measured time into its components. `mean_seconds` returns the mean task time with given
// components under the conditions of the measurement. Processor time, reads, writes and transfers
// explain as much of the time as they can.
template <class MeanSeconds>
Parts Separate(const Measured& measured, const MeanSeconds& mean_seconds) {
  Parts parts;
  if (measured.core_seconds > 0) {
    parts.start_core_seconds = std::min(measured.start_core_seconds, measured.core_seconds);
    parts.core_seconds =
        std::max(measured.core_seconds - parts.start_core_seconds, kTaskSecondsMin);
  }
  const double explained = mean_seconds(parts);
  const auto fit = [&](auto set, double low, double high) {
    const auto excess = [&](double x) {
      Parts other = parts;
      set(other, x);
      return mean_seconds(other) - measured.seconds;
    };
    set(parts, placement::RootOf(excess, low, high, kFitTolerance * measured.seconds, kFitRounds));
  };
  if (explained > measured.seconds) {
    fit([](Parts& some, double share) { some.slow_share = share; }, facts::kShareMin, 1);
  } else if (measured.core_seconds > 0 || explained > measured.seconds * kMostOfTheTime) {
    // While a resource is scarce, a task with more load waits less, and the mean barely changes. A
    // fit would then explain a small difference by a long load.
    parts.load = absl::Seconds(measured.seconds - explained);
  } else {
    fit([](Parts& some, double core_seconds) { some.core_seconds = core_seconds; }, kTaskSecondsMin,
        measured.seconds);
  }
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

// Returns one node of the cluster, or nullopt if its speeds are unknown.
std::optional<placement::SharedHost> OneNode(const Cluster& cluster) {
  const std::vector<placement::SharedHost> hosts = HostsOf(cluster);
  if (hosts.empty()) return std::nullopt;
  return placement::SharedHost{.processors = hosts.front().processors / hosts.front().nodes,
                               .nodes = 1};
}

// The tasks of a stage on the nodes of a cluster without other tasks.
struct StageLoad {
  double tasks = 1;
  double slots = 1;
  double nodes = 1;
  double variation = 0;  // of the task times
};

// Returns the ratio of the tasks' mean time to their time alone.
double StretchOf(const placement::TaskDemand& demand, const StageLoad& load,
                 const std::optional<placement::SharedHost>& node) {
  if (!node) return 1;
  return placement::MeanStretch(demand, *node, load.tasks / load.nodes, load.slots / load.nodes,
                                load.variation);
}

ModelledPhase PhaseOn(const TaskModel& task, const ResourceProfile& speeds, const StageLoad& load,
                      const std::optional<placement::SharedHost>& node) {
  const auto time = EstimateTask(task, speeds, PerNode(load.tasks, load.slots, load.nodes));
  auto alone = DemandOf(task, speeds);
  if (!time.ok() || !alone.ok()) return {};
  // Time that no resource explains may be the longest component.
  const bool is_load = std::ranges::all_of(
      time->sub_stages, [&](const SubStageTime& part) { return part.time < task.load; });
  return {.seconds = alone->seconds * StretchOf(alone->parts, load, node),
          .bottleneck = is_load ? "" : std::string(NameOf(time->bottleneck)),
          .alone = *std::move(alone)};
}

// Bottleneck oriented estimation of one job's tasks, with components that explain the measured task
// times.
class Model {
 public:
  // If `knows_node` is false, only the processors take time.
  Model(const JobProfile& run, const Cluster& cluster, bool knows_node, const Conditions& measured)
      : node_(Unbound(knows_node ? cluster.node : std::nullopt)),
        host_(knows_node ? OneNode(cluster) : std::nullopt),
        nodes_(std::max<double>(cluster.nodes, 1)),
        // The measured network speed of a single node applies unchanged.
        executors_(nodes_ > 1 ? nodes_ : 0),
        measured_(measured),
        map_variation_(run.map_task_variation),
        reduce_variation_(run.reduce_task_variation) {
    const auto or_one = [](double selectivity) { return selectivity > 0 ? selectivity : 1; };
    profile_.map_selectivity = or_one(run.map_selectivity);
    // In [BOE] eq. 5, the selectivity relates the output to the split; in a run, it relates the
    // output to the reduce input.
    profile_.reduce_selectivity = or_one(run.reduce_selectivity) * profile_.map_selectivity;
    profile_.map_overlap = kMapOverlap;
    map_ = Separate({Seconds(run.map_task_time), absl::ToDoubleSeconds(run.map_cpu_time),
                     absl::ToDoubleSeconds(run.map_start_cpu_time)},
                    [&](const Parts& parts) { return MapOn(measured, parts).seconds; });
    const double sort_core_seconds = SetSort(run);
    double core_seconds = absl::ToDoubleSeconds(run.reduce_cpu_time);
    if (core_seconds > 0)
      core_seconds = std::max(core_seconds - sort_core_seconds, kTaskSecondsMin);
    reduce_ = Separate({Seconds(run.reduce_task_time), core_seconds,
                        absl::ToDoubleSeconds(run.reduce_start_cpu_time)},
                       [&](const Parts& parts) { return ReduceOn(measured, parts).seconds; });
  }

  ModelledTasks Estimate(const Conditions& conditions) const {
    return {.map = MapOn(conditions, map_), .reduce = ReduceOn(conditions, reduce_)};
  }

 private:
  ModelledPhase MapOn(const Conditions& conditions, const Parts& parts) const {
    return PhaseOn(MapTask(At(conditions, parts)), NodeFor(parts, node_),
                   {conditions.map_tasks, conditions.slots, nodes_, map_variation_}, host_);
  }

  ModelledPhase ReduceOn(const Conditions& conditions, const Parts& parts) const {
    return PhaseOn(ReduceTask(At(conditions, parts), executors_), NodeFor(parts, node_),
                   {conditions.reduce_tasks, conditions.slots, nodes_, reduce_variation_}, host_);
  }

  // Sets the sort sub-stage ([BOE] eq. 5) from its measured time, and returns its core seconds. If
  // alpha_s is unknown, it is the largest share that the disk can write in that time.
  double SetSort(const JobProfile& run) {
    const double seconds = absl::ToDoubleSeconds(run.reduce_sort_time);
    const double per_node = PerNode(measured_.reduce_tasks, measured_.slots, nodes_);
    profile_.sort_throughput = kUnbound;
    profile_.second_sort_fraction = run.second_sort_fraction;
    if (!(seconds > 0)) return 0;
    if (!(run.second_sort_fraction > 0)) {
      const double written_bytes = seconds * node_.disk_write / per_node;
      profile_.second_sort_fraction =
          std::clamp(written_bytes / ReduceBytes(), facts::kShareMin, 1.0);
    }
    // If a node runs more tasks than it has cores, the tasks share the cores.
    const double core_seconds = seconds / std::max(per_node / node_.cores, 1.0);
    profile_.sort_throughput = profile_.second_sort_fraction * ReduceBytes() / core_seconds;
    return core_seconds;
  }

  static double Seconds(absl::Duration time) {
    return std::max(absl::ToDoubleSeconds(time), kTaskSecondsMin);
  }

  MapReduceProfile At(const Conditions& conditions, const Parts& parts) const {
    MapReduceProfile at = profile_;
    at.load = parts.load;
    at.start_core_seconds = parts.start_core_seconds;
    at.map_throughput = measured_.split_bytes / parts.core_seconds;
    at.reduce_throughput = ReduceBytes() / parts.core_seconds;
    at.split_bytes = conditions.split_bytes;
    at.map_tasks = conditions.map_tasks;
    at.reduce_tasks = conditions.reduce_tasks;
    return at;
  }

  // Returns the input of a measured reduce task.
  double ReduceBytes() const {
    return profile_.map_selectivity * measured_.split_bytes * measured_.map_tasks /
           std::max(measured_.reduce_tasks, 1.0);
  }

  const ResourceProfile node_;
  const std::optional<placement::SharedHost> host_;
  const double nodes_;
  const double executors_;  // argument of ReduceTask()
  const Conditions measured_;
  const double map_variation_;
  const double reduce_variation_;
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

// Sets the bottleneck, the demand and the time alone of `phase`.
void Describe(const ModelledPhase& modelled, PhaseEstimate& phase) {
  phase.bottleneck = modelled.bottleneck;
  if (!(modelled.seconds > 0)) return;
  phase.demand = modelled.alone.parts;
  phase.alone = modelled.alone.seconds / modelled.seconds;
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
    const Model model(run, cluster, /*knows_node=*/is_split_known, then);
    const ModelledTasks before = model.Estimate(then);
    const ModelledTasks modelled = model.Estimate(now);
    const auto ratio = [](const ModelledPhase& other, const ModelledPhase& measured) {
      return measured.seconds > 0 ? other.seconds / measured.seconds : 1;
    };
    if (is_split_known && cluster.node && map.empty()) {
      Describe(modelled.map, expected.map);
      Describe(modelled.reduce, expected.reduce);
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
  expected.slot_idle = absl::ToDoubleSeconds(all.front().slot_idle_time);
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
  const TaskModel task = {
      .sub_stages = {{.name = "compute",
                      .operations = {{Resource::kDfsRead, fetches ? 0 : bytes},
                                     {Resource::kDiskRead, fetches ? bytes : 0},
                                     {Resource::kNetwork, fetches ? remote * bytes : 0}}}}};
  const StageLoad load = {tasks, slots, nodes, kUsualVariation};
  const std::optional<placement::SharedHost> host = OneNode(cluster);
  const auto phase_with = [&](const Parts& parts) {
    TaskModel with = task;
    with.load = parts.load;
    // One unit of work per second of a core.
    with.sub_stages[0].operations.push_back({Resource::kCpu, parts.core_seconds, 1});
    return PhaseOn(with, NodeFor(parts, node), load, host);
  };
  const Parts parts = Separate({measured.seconds, measured.cpu_seconds, 0},
                               [&](const Parts& some) { return phase_with(some).seconds; });
  ModelledPhase phase = phase_with(parts);
  if (phase.seconds > 0) demand.alone = phase.alone.seconds / phase.seconds;
  demand.parts = std::move(phase.alone.parts);
  return demand;
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
