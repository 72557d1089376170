#include "master/forecast/dag/task_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace tidemark::dag {
namespace {

// Rounds of redistribution. Each round fixed at least one resource in every tested case.
constexpr int kRoundsMax = 100;
constexpr double kRateTolerance = 1e-12;  // relative

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

// Seconds of each resource (of one core for kCpu) for one task's sub-stage.
using Needs = std::array<double, kResources>;

// Returns the field of a plan with the throughput: of `node`, or of the task itself.
std::string FieldOf(Resource resource) {
  if (resource == Resource::kCpu) return "core_bytes_per_second";
  const std::string field = absl::StrReplaceAll(NameOf(resource), {{" ", "_"}});
  return absl::StrCat("node.", field, "_bytes_per_second");
}

// Returns InvalidArgument with the names of all unknown throughputs that the task needs.
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
    needs[IndexOf(operation.resource)] += operation.bytes / throughput;
  }
  return needs;
}

class Sharing {
 public:
  Sharing(double cores, std::vector<Needs> needs, std::vector<double> tasks)
      : cores_(cores), needs_(std::move(needs)), tasks_(std::move(tasks)) {
    limits_.resize(needs_.size());
    for (std::size_t i = 0; i < needs_.size(); ++i) {
      limits_[i].fill(INFINITY);
      // A task has one thread: it uses at most one core.
      alone_.push_back(needs_[i][IndexOf(Resource::kCpu)] > 0
                           ? 1 / needs_[i][IndexOf(Resource::kCpu)]
                           : INFINITY);
    }
  }

  // Computes the sub-stages per second of each sharer.
  void Settle() {
    for (int round = 0; round < kRoundsMax; ++round) {
      double change = 0;
      for (std::size_t r = 0; r < kResources; ++r) change = std::max(change, SplitResource(r));
      if (change < kRateTolerance) return;
    }
  }

  double Rate(std::size_t i) const { return RateElsewhere(i, kResources); }

  // Returns the resource that limits this sharer; on a tie, its core.
  Resource Bottleneck(std::size_t i) const {
    const auto tightest = std::min_element(limits_[i].begin(), limits_[i].end());
    if (*tightest >= alone_[i]) return Resource::kCpu;
    return static_cast<Resource>(tightest - limits_[i].begin());
  }

 private:
  double RateElsewhere(std::size_t i, std::size_t resource) const {
    double rate = alone_[i];
    for (std::size_t r = 0; r < kResources; ++r) {
      if (r != resource) rate = std::min(rate, limits_[i][r]);
    }
    return rate;
  }

  // Sets every sharer's limit on this resource. Returns the largest relative change.
  double SplitResource(std::size_t resource) {
    struct Wish {
      double use;  // of the resource, by one task, if only other resources limited it
      double tasks;
    };
    std::vector<Wish> wishes;
    for (std::size_t i = 0; i < needs_.size(); ++i) {
      if (needs_[i][resource] == 0 || tasks_[i] == 0) continue;
      wishes.push_back({RateElsewhere(i, resource) * needs_[i][resource], tasks_[i]});
    }
    std::sort(wishes.begin(), wishes.end(),
              [](const Wish& a, const Wish& b) { return a.use < b.use; });
    double left = resource == IndexOf(Resource::kCpu) ? cores_ : 1;
    double tasks_left = 0;
    for (const Wish& wish : wishes) tasks_left += wish.tasks;
    double level = INFINITY;
    for (const Wish& wish : wishes) {
      if (wish.use * tasks_left > left) {
        level = left / tasks_left;
        break;
      }
      left -= wish.use * wish.tasks;
      tasks_left -= wish.tasks;
    }
    double change = 0;
    for (std::size_t i = 0; i < needs_.size(); ++i) {
      if (needs_[i][resource] == 0) continue;
      const double limit = level / needs_[i][resource];
      double& old = limits_[i][resource];
      if (limit != old)
        change = std::max(change, std::isinf(old - limit) ? 1 : std::abs(limit - old) / limit);
      old = limit;
    }
    return change;
  }

  double cores_;
  std::vector<Needs> needs_;
  std::vector<double> tasks_;
  std::vector<double> alone_;
  std::vector<Needs> limits_;
};

// Returns the number of tasks on the node that need each resource.
Needs Users(const std::vector<Needs>& needs, const std::vector<double>& tasks) {
  Needs users = {};
  for (std::size_t i = 0; i < needs.size(); ++i) {
    for (std::size_t r = 0; r < kResources; ++r) users[r] += needs[i][r] > 0 ? tasks[i] : 0;
  }
  return users;
}

SubStageTime TimeOf(std::size_t i, const Sharing& sharing, const Needs& needs, const Needs& users,
                    double cores) {
  SubStageTime time;
  const double rate = sharing.Rate(i);
  if (std::isinf(rate)) return time;
  time.time = absl::Seconds(1 / rate);
  time.bottleneck = sharing.Bottleneck(i);
  for (std::size_t r = 0; r < kResources; ++r) {
    const double crowd = r == IndexOf(Resource::kCpu) ? std::max(1.0, users[r] / cores) : users[r];
    time.use[r] = std::min(1.0, needs[r] * crowd * rate);
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

absl::StatusOr<std::vector<SubStageTime>> ShareNode(const ResourceProfile& node,
                                                    std::span<const Sharer> sharers) {
  if (!std::isfinite(node.cores) || node.cores <= 0) {
    return absl::InvalidArgumentError("a node needs a finite number of cores above zero");
  }
  std::vector<Needs> needs;
  std::vector<double> tasks;
  for (const Sharer& sharer : sharers) {
    if (!IsAmount(sharer.tasks_per_node)) {
      return absl::InvalidArgumentError("tasks per node must be finite and not negative");
    }
    absl::StatusOr<Needs> need = NeedsOf(*sharer.sub_stage, node);
    if (!need.ok()) return need.status();
    needs.push_back(*need);
    tasks.push_back(sharer.tasks_per_node);
  }
  Sharing sharing(node.cores, needs, tasks);
  sharing.Settle();
  const Needs users = Users(needs, tasks);
  std::vector<SubStageTime> times;
  for (std::size_t i = 0; i < sharers.size(); ++i) {
    times.push_back(TimeOf(i, sharing, needs[i], users, node.cores));
    times.back().name = sharers[i].sub_stage->name;
  }
  return times;
}

absl::StatusOr<TaskTime> EstimateTask(const TaskModel& task, const ResourceProfile& node,
                                      double tasks_per_node) {
  if (!std::isfinite(tasks_per_node) || tasks_per_node <= 0) {
    return absl::InvalidArgumentError("tasks per node must be finite and above zero");
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

TaskModel MapTask(const MapReduceProfile& job) {
  return {.load = job.load,
          .sub_stages = {
              {.name = "map",
               .operations = {{Resource::kDfsRead, job.split_bytes},
                              {Resource::kCpu, job.split_bytes, job.map_throughput}}},
              {.name = "map output",
               .operations = {{Resource::kDiskWrite, job.map_selectivity * job.split_bytes}}}}};
}

TaskModel ReduceTask(const MapReduceProfile& job, double executors) {
  const double tasks = job.reduce_tasks > 0 ? job.reduce_tasks : 1;
  const double share_bytes =
      job.split_bytes * job.map_tasks / tasks;  // of the whole input of the job
  const double input_bytes = job.map_selectivity * share_bytes;
  const double remote = executors > 0 ? 1 - 1 / executors : 1;
  const double sort_bytes = job.second_sort_fraction * input_bytes;
  return {
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
