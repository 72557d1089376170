// What one task takes, from its data and the resources it shares: bottleneck oriented estimation
// ([BOE] section 4).
//
// A task is a row of sub-stages with a barrier between them. Within a sub-stage, tuples stream
// through operations (read, transfer, compute, write), so that the sub-stage takes as long as its
// slowest operation, t = max over operations of data / share of the resource (eq. 2), and that
// operation's resource is its bottleneck. Disks and the network of a node are shared evenly by the
// tasks on it; a processor only where there are more tasks than cores.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tidemark/job_profile.h"

namespace tidemark::workflow {

enum class Resource { kCpu, kDiskRead, kDiskWrite, kDfsRead, kDfsWrite, kNetwork };
inline constexpr std::size_t kResources = 6;
absl::string_view NameOf(Resource resource);

struct Operation {
  Resource resource = Resource::kCpu;
  double bytes = 0;                  // D
  double core_bytes_per_second = 0;  // kCpu: throughput of one core that does nothing else
};

struct SubStage {
  std::string name;
  std::vector<Operation> operations;  // pipelined; none: takes no time
};

struct TaskModel {
  absl::Duration load;  // t_load: to create, schedule and destroy the task
  std::vector<SubStage> sub_stages;
};

struct SubStageTime {
  std::string name;
  absl::Duration time;
  Resource bottleneck = Resource::kCpu;
  // Share of its time for which the sub-stage uses each resource (p_X), 1 for the bottleneck.
  std::array<double, kResources> use = {};
};

struct TaskTime {
  absl::Duration total;  // load included
  std::vector<SubStageTime> sub_stages;
  Resource bottleneck = Resource::kCpu;  // of the longest sub-stage
};

// Of a task that shares its node with its like: `tasks_per_node` (Delta) of them, itself included,
// 0 < tasks_per_node. InvalidArgument: a size, throughput or number that is negative or not finite,
// a throughput of zero where there are data. Cost: O(operations).
absl::StatusOr<TaskTime> EstimateTask(const TaskModel& task, const ResourceProfile& node,
                                      double tasks_per_node);

// Tasks of one stage on a node that tasks of other stages use as well.
struct Sharer {
  const SubStage* sub_stage = nullptr;
  double tasks_per_node = 0;
};

// Several stages on one node ([BOE] 4.2.2: the shares of the bottleneck add up to one). The paper
// leaves open who gets which share; here each resource is split max-min fairly in time among all
// tasks on the node, and what a task cannot use, because another resource or its core holds it
// back, goes to the others. With a single sharer this is eq. 2. Errors as above.
// Cost: O(rounds x sharers log sharers), at most 100 rounds.
absl::StatusOr<std::vector<SubStageTime>> ShareNode(const ResourceProfile& node,
                                                    std::span<const Sharer> sharers);

}  // namespace tidemark::workflow
