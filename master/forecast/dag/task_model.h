// Estimates the time of a task from its data and the resources that it shares, using bottleneck
// oriented estimation ([BOE] section 4).
//
// A task is a sequence of sub-stages with barriers. Within a sub-stage, tuples stream through
// operations (read, transfer, compute, write). The sub-stage takes as long as its slowest
// operation, t = max over operations of data / share of the resource ([BOE] eq. 2). The resource of
// the slowest operation is the bottleneck. The tasks of a node share its disks and network evenly.
// They also share its processors if there are more tasks than cores.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "master/forecast/placement/node_share.h"
#include "tidemark/job_profile.h"
#include "tidemark/plan.h"

namespace tidemark::dag {

using placement::kResources;
using placement::Needs;
using placement::Resource;
absl::string_view NameOf(Resource resource);
// Returns the name of the resource, or "" if `resource` is unset.
std::string NameOr(const std::optional<Resource>& resource);

struct Operation {
  Resource resource = Resource::kCpu;
  double bytes = 0;                  // D
  double core_bytes_per_second = 0;  // kCpu: throughput of one otherwise idle core
};

struct SubStage {
  std::string name;
  std::vector<Operation> operations;  // pipelined; no operations take no time
  double overlap = 1;                 // TaskPart::overlap
};

struct TaskModel {
  absl::Duration load;  // t_load: time to create, schedule and destroy the task
  std::vector<SubStage> sub_stages;
};

struct SubStageTime {
  std::string name;
  absl::Duration time;
  Resource bottleneck = Resource::kCpu;
  // For each resource, the share of the sub-stage's time for which it is used (p_X); 1 for the
  // bottleneck.
  std::array<double, kResources> use = {};
};

struct TaskTime {
  absl::Duration total;  // includes the load time
  std::vector<SubStageTime> sub_stages;
  Resource bottleneck = Resource::kCpu;  // bottleneck of the longest sub-stage
};

// Returns the time of a task that shares its node with tasks of the same stage. `tasks_per_node`
// (Delta) includes the task and is positive. Fails with InvalidArgument if a size, throughput or
// number is negative or not finite, or if a required throughput is zero. O(operations).
absl::StatusOr<TaskTime> EstimateTask(const TaskModel& task, const ResourceProfile& node,
                                      double tasks_per_node);

// Tasks of one stage on a node that several stages share.
struct Sharer {
  const SubStage* sub_stage = nullptr;
  double tasks_per_node = 0;
};

// Returns the times of several stages on one node ([BOE] 4.2.2, node_share.h). With a single
// sharer, the result is [BOE] eq. 2. Fails like EstimateTask().
absl::StatusOr<std::vector<SubStageTime>> ShareNode(const ResourceProfile& node,
                                                    std::span<const Sharer> sharers);

// The time of a task alone on a node, and its parts for a simulation of shared nodes.
struct TaskDemandAlone {
  double seconds = 0;
  placement::TaskDemand parts;  // empty if the task takes no time
};

// Returns the demand of a task. Fails like EstimateTask().
absl::StatusOr<TaskDemandAlone> DemandOf(const TaskModel& task, const ResourceProfile& node);

// Returns the bounds of [BOE] Theorem 1 (eq. 17). They bound the time by which the slowest of
// `degree` task tracks, each of `tasks` / `degree` tasks, exceeds the mean track. Task times are
// normal with this deviation; the theorem calls it a variance, but its proof uses a deviation. Both
// bounds are zero for a single track and for invalid arguments (tasks or degree below 1, a
// deviation below zero).
struct GainBounds {
  double lower_seconds = 0;  // 0.23 sqrt(N/D) s sqrt(log D)
  double upper_seconds = 0;  // sqrt(2 N/D) s sqrt(log D)
};
GainBounds SkewGainBounds(double tasks, double degree, double deviation_seconds);

// The sub-stages and operations of the tasks of a MapReduce job and of a Spark stage ([BOE] 4.2.1,
// propositions 1 to 3).

// Job and data profile ([BOE] Table 1). Throughputs are in bytes per second per core.
struct MapReduceProfile {
  absl::Duration load;              // t_load
  double start_core_seconds = 0;    // processor time before the task reads its data
  double map_overlap = 1;           // TaskPart::overlap of reading and computing
  double map_throughput = 0;        // theta_map
  double reduce_throughput = 0;     // theta_reduce
  double sort_throughput = 0;       // theta_sort
  double map_selectivity = 1;       // alpha_m: bytes written / bytes read by map tasks
  double reduce_selectivity = 1;    // alpha_r: bytes written / split bytes
  double second_sort_fraction = 0;  // alpha_s: share of the reduce input that is sorted twice
  double split_bytes = 0;           // B
  double map_tasks = 0;             // N_m
  double reduce_tasks = 0;          // N_r
};

// Returns the model of a map task ([BOE] eq. 3). The task starts, reads its split while it
// computes, then writes its output to disk.
TaskModel MapTask(const MapReduceProfile& job);

// Returns the model of a reduce task ([BOE] eq. 4 and 5). The task copies its share of the map
// output, sorts part of it again, and reduces while it writes to the file system. If `executors` is
// positive, the shuffle excludes data that are already on the node, so it transfers the share 1 -
// 1/executors. If `executors` is 0, the model follows the paper's eq. 4. The disk that eq. 4 reads
// at the source is charged at theta_dw of the target, as in the paper.
TaskModel ReduceTask(const MapReduceProfile& job, double executors = 0);

// Returns the model of a Spark task. The first sub-stage reads from the file system, from disk and
// over the network, computes, and writes to the file system, all pipelined. The second writes the
// shuffle output to disk.
TaskModel SparkTask(const TaskData& task);

}  // namespace tidemark::dag
