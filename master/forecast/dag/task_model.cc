#include "master/forecast/dag/task_model.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "master/forecast/placement/placing.h"

namespace tidemark::dag {
namespace {

std::size_t IndexOf(Resource resource) { return static_cast<std::size_t>(resource); }

double Throughput(const ResourceProfile& node, const Operation& operation) {
  switch (operation.resource) {
    case Resource::kCpu:
      return operation.core_bytes_per_second;
    case Resource::kDiskRead:
      return node.disk_read;
    case Resource::kDiskWrite:
      return node.disk_write;
    case Resource::kDfsRead:
      return node.dfs_read;
    case Resource::kDfsWrite:
      return node.dfs_write;
    case Resource::kNetwork:
      return node.network;
  }
  return 0;
}

bool IsAmount(double value) { return std::isfinite(value) && value >= 0; }

// Returns the plan's field that holds the throughput of `resource`, in `node` or in the task
// itself.
std::string FieldOf(Resource resource) {
  if (resource == Resource::kCpu) return "core_bytes_per_second";
  const std::string field = absl::StrReplaceAll(NameOf(resource), {{" ", "_"}});
  return absl::StrCat("node.", field, "_bytes_per_second");
}

// If the task needs unknown throughputs, returns InvalidArgument with the names of all of them.
absl::Status CheckThroughputs(const TaskModel& task, const ResourceProfile& node) {
  std::vector<std::string> missing;
  for (const SubStage& sub_stage : task.sub_stages) {
    for (const Operation& operation : sub_stage.operations) {
      if (operation.bytes == 0 || Throughput(node, operation) != 0) continue;
      const std::string field = FieldOf(operation.resource);
      if (std::find(missing.begin(), missing.end(), field) == missing.end()) {
        missing.push_back(field);
      }
    }
  }
  if (missing.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("needs ", absl::StrJoin(missing, " and "),
                                                 "; `tidemark profile node` measures a node"));
}

absl::StatusOr<Needs> NeedsOf(const SubStage& sub_stage, const ResourceProfile& node) {
  Needs needs = {};
  for (const Operation& operation : sub_stage.operations) {
    const absl::string_view name = NameOf(operation.resource);
    const double throughput = Throughput(node, operation);
    if (!IsAmount(operation.bytes) || !IsAmount(throughput)) {
      return absl::InvalidArgumentError(absl::StrCat("sub-stage ", sub_stage.name,
                                                     ": the size and throughput of ", name,
                                                     " must be finite and not negative"));
    }
    if (operation.bytes == 0) continue;
    if (throughput == 0) {
      return absl::InvalidArgumentError(absl::StrCat("sub-stage ", sub_stage.name, " needs ", name,
                                                     ", whose throughput is zero"));
    }
    needs[IndexOf(operation.resource)] +=
        std::min(operation.bytes / throughput, placement::kForever);
  }
  return needs;
}

// Returns the task with a first sub-stage that only computes, if it takes any time.
TaskModel WithStart(TaskModel task, double core_seconds) {
  if (core_seconds > 0) {
    task.sub_stages.insert(task.sub_stages.begin(),
                           {.name = "start", .operations = {{Resource::kCpu, core_seconds, 1}}});
  }
  return task;
}

// Returns the number of tasks on the node that need each resource.
Needs Users(std::span<const placement::NodeSharer> sharers) {
  Needs users = {};
  for (const placement::NodeSharer& sharer : sharers) {
    for (std::size_t r = 0; r < kResources; ++r) {
      users[r] += sharer.part.needs[r] > 0 ? sharer.tasks : 0;
    }
  }
  return users;
}

SubStageTime TimeOf(const placement::PartRate& rate, const Needs& needs, const Needs& users,
                    double cores) {
  SubStageTime time;
  if (std::isinf(rate.per_second)) return time;
  time.time = absl::Seconds(1 / rate.per_second);
  time.bottleneck = rate.bottleneck;
  for (std::size_t r = 0; r < kResources; ++r) {
    const double crowd = r == IndexOf(Resource::kCpu) ? std::max(1.0, users[r] / cores) : users[r];
    time.use[r] = std::min(1.0, needs[r] * crowd * rate.per_second);
  }
  time.use[IndexOf(time.bottleneck)] = 1;
  return time;
}

}  // namespace

absl::string_view NameOf(Resource resource) {
  switch (resource) {
    case Resource::kCpu:
      return "cpu";
    case Resource::kDiskRead:
      return "disk read";
    case Resource::kDiskWrite:
      return "disk write";
    case Resource::kDfsRead:
      return "file system read";
    case Resource::kDfsWrite:
      return "file system write";
    case Resource::kNetwork:
      return "network";
  }
  return "unknown";
}

std::string NameOr(const std::optional<Resource>& resource) {
  return resource ? std::string(NameOf(*resource)) : "";
}

absl::StatusOr<std::vector<SubStageTime>> ShareNode(const ResourceProfile& node,
                                                    std::span<const Sharer> sharers) {
  if (!std::isfinite(node.cores) || node.cores <= 0) {
    return absl::InvalidArgumentError("the number of cores of a node must be positive and finite");
  }
  std::vector<placement::NodeSharer> needs;
  for (const Sharer& sharer : sharers) {
    if (!IsAmount(sharer.tasks_per_node)) {
      return absl::InvalidArgumentError("tasks per node must be finite and not negative");
    }
    absl::StatusOr<Needs> need = NeedsOf(*sharer.sub_stage, node);
    if (!need.ok()) return need.status();
    needs.push_back({.part = {.needs = *need, .overlap = sharer.sub_stage->overlap},
                     .tasks = sharer.tasks_per_node});
  }
  const std::vector<placement::PartRate> rates = placement::ShareNode(node.cores, 1, needs);
  const Needs users = Users(needs);
  std::vector<SubStageTime> times;
  for (std::size_t i = 0; i < sharers.size(); ++i) {
    times.push_back(TimeOf(rates[i], needs[i].part.needs, users, node.cores));
    times.back().name = sharers[i].sub_stage->name;
  }
  return times;
}

absl::StatusOr<TaskTime> EstimateTask(const TaskModel& task, const ResourceProfile& node,
                                      double tasks_per_node) {
  if (!std::isfinite(tasks_per_node) || tasks_per_node <= 0) {
    return absl::InvalidArgumentError("tasks per node must be positive and finite");
  }
  if (task.load < absl::ZeroDuration() || task.load == absl::InfiniteDuration()) {
    return absl::InvalidArgumentError("the load time must be finite and not negative");
  }
  if (absl::Status known = CheckThroughputs(task, node); !known.ok()) return known;
  TaskTime estimate = {.total = task.load};
  absl::Duration longest = -absl::InfiniteDuration();
  for (const SubStage& sub_stage : task.sub_stages) {
    const Sharer alone = {&sub_stage, tasks_per_node};
    absl::StatusOr<std::vector<SubStageTime>> time = ShareNode(node, {&alone, 1});
    if (!time.ok()) return time.status();
    estimate.total += time->front().time;
    if (time->front().time > longest) {
      longest = time->front().time;
      estimate.bottleneck = time->front().bottleneck;
    }
    estimate.sub_stages.push_back(std::move(time->front()));
  }
  return estimate;
}

absl::StatusOr<TaskDemandAlone> DemandOf(const TaskModel& task, const ResourceProfile& node) {
  absl::StatusOr<TaskTime> alone = EstimateTask(task, node, 1);
  if (!alone.ok()) return alone.status();
  TaskDemandAlone demand = {.seconds = absl::ToDoubleSeconds(alone->total)};
  if (!(demand.seconds > 0) || std::isinf(demand.seconds)) return demand;
  const auto add = [&](const Needs& needs, absl::Duration time, double overlap) {
    placement::TaskPart part = {.seconds = absl::ToDoubleSeconds(time) / demand.seconds,
                                .overlap = overlap};
    if (!(part.seconds > 0)) return;
    for (std::size_t r = 0; r < kResources; ++r) part.needs[r] = needs[r] / demand.seconds;
    demand.parts.push_back(part);
  };
  add({}, task.load, 1);
  for (std::size_t i = 0; i < task.sub_stages.size(); ++i) {
    add(*NeedsOf(task.sub_stages[i], node), alone->sub_stages[i].time, task.sub_stages[i].overlap);
  }
  return demand;
}

GainBounds SkewGainBounds(double tasks, double degree, double deviation_seconds) {
  if (!(tasks >= 1) || !(degree > 1) || !(deviation_seconds > 0)) return {};
  const double scale = std::sqrt(tasks / degree) * deviation_seconds * std::sqrt(std::log(degree));
  return {0.23 * scale, std::numbers::sqrt2 * scale};
}

TaskModel MapTask(const MapReduceProfile& job) {
  TaskModel task = {
      .load = job.load,
      .sub_stages = {
          {.name = "map",
           .operations = {{Resource::kDfsRead, job.split_bytes},
                          {Resource::kCpu, job.split_bytes, job.map_throughput}},
           .overlap = job.map_overlap},
          {.name = "map output",
           .operations = {{Resource::kDiskWrite, job.map_selectivity * job.split_bytes}}}}};
  return WithStart(std::move(task), job.start_core_seconds);
}

TaskModel ReduceTask(const MapReduceProfile& job, double executors) {
  const double tasks = job.reduce_tasks > 0 ? job.reduce_tasks : 1;
  const double share_bytes =
      job.split_bytes * job.map_tasks / tasks;  // share of the job's whole input
  const double input_bytes = job.map_selectivity * share_bytes;
  const double remote = executors > 0 ? 1 - 1 / executors : 1;
  const double sort_bytes = job.second_sort_fraction * input_bytes;
  TaskModel task = {
      .load = job.load,
      .sub_stages = {{.name = "shuffle",
                      .operations = {{Resource::kDiskWrite, input_bytes},
                                     {Resource::kNetwork, remote * input_bytes}}},
                     {.name = "sort",
                      .operations = {{Resource::kDiskWrite, sort_bytes},
                                     {Resource::kCpu, sort_bytes, job.sort_throughput}}},
                     {.name = "reduce",
                      .operations = {{Resource::kDfsWrite, job.reduce_selectivity * share_bytes},
                                     {Resource::kCpu, input_bytes, job.reduce_throughput}}}}};
  return WithStart(std::move(task), job.start_core_seconds);
}

TaskModel SparkTask(const TaskData& task) {
  const auto input = static_cast<double>(task.input_bytes);
  const auto fetched = static_cast<double>(task.shuffle_read_bytes);
  const auto written = static_cast<double>(task.shuffle_write_bytes);
  const auto output = static_cast<double>(task.output_bytes);
  return {
      .load = task.load,
      .sub_stages = {{.name = "compute",
                      .operations = {{Resource::kDfsRead, input},
                                     {Resource::kDiskRead, fetched},
                                     {Resource::kNetwork, fetched},
                                     {Resource::kCpu, input + fetched, task.core_bytes_per_second},
                                     {Resource::kDfsWrite, output}}},
                     {.name = "shuffle write", .operations = {{Resource::kDiskWrite, written}}}}};
}

}  // namespace tidemark::dag
