#include "master/forecast/dag/task_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace tidemark::workflow {
namespace {

// Rounds of redistribution: each settles at least one resource in all cases seen.
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

// Seconds of each resource (of one core for kCpu) that one task's sub-stage needs.
using Needs = std::array<double, kResources>;

// The field of a plan that says it: of `node`, or of the task itself.
std::string FieldOf(Resource resource) {
  if (resource == Resource::kCpu) return "core_bytes_per_second";
  const std::string field = absl::StrReplaceAll(NameOf(resource), {{" ", "_"}});
  return absl::StrCat("node.", field, "_bytes_per_second");
}

// InvalidArgument names every throughput that the task needs and that is not known.
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
      // A task has one thread: it cannot use more than one core.
      alone_.push_back(needs_[i][IndexOf(Resource::kCpu)] > 0
                           ? 1 / needs_[i][IndexOf(Resource::kCpu)]
                           : INFINITY);
    }
  }

  // Sub-stages per second of each sharer.
  void Settle() {
    for (int round = 0; round < kRoundsMax; ++round) {
      double change = 0;
      for (std::size_t r = 0; r < kResources; ++r) change = std::max(change, SplitResource(r));
      if (change < kRateTolerance) return;
    }
  }

  double Rate(std::size_t i) const { return RateElsewhere(i, kResources); }

  // The resource that limits this sharer; on a tie, its core.
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

  // Sets every sharer's limit on this resource; returns the largest relative change.
  double SplitResource(std::size_t resource) {
    struct Wish {
      double use;  // of the resource, by one task, if only the others held it back
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

// Tasks on the node that need each resource.
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

}  // namespace tidemark::workflow
