// Map and reduce tasks of a MapReduce job, and tasks of a Spark stage, as sub-stages of operations
// ([BOE] 4.2.1, propositions 1 to 3).
#pragma once

#include "absl/time/time.h"
#include "master/forecast/dag/task_model.h"
#include "tidemark/plan.h"

namespace tidemark::workflow {

// Job and data profile ([BOE] Table 1). Throughputs in bytes per second of a core.
struct MapReduceProfile {
  absl::Duration load;              // t_load
  double map_throughput = 0;        // theta_map
  double reduce_throughput = 0;     // theta_reduce
  double sort_throughput = 0;       // theta_sort
  double map_selectivity = 1;       // alpha_m: bytes written over bytes read by map tasks
  double reduce_selectivity = 1;    // alpha_r: bytes written over split bytes
  double second_sort_fraction = 0;  // alpha_s: share of the reduce input that is sorted twice
  double split_bytes = 0;           // B
  double map_tasks = 0;             // N_m
  double reduce_tasks = 0;          // N_r
};

// Eq. 3: reads its split while it computes, then writes its output to disk.
TaskModel MapTask(const MapReduceProfile& job);

// Eq. 4: copies its share of the map output, then eq. 5: sorts part of it again, and reduces while
// it writes to the file system. `executors` > 0 takes off the part of the shuffle that is already
// on the node, (1 - 1/executors); the paper's eq. 4 does not (0). As in the paper the disk that eq.
// 4 reads at the source is charged at theta_dw of the target.
TaskModel ReduceTask(const MapReduceProfile& job, double executors = 0);

// One pipelined sub-stage reads from the file system, through disk and network, computes on input
// and shuffle read together, and writes to the file system; a second writes to disk what the next
// stage will fetch.
TaskModel SparkTask(const TaskData& task);

}  // namespace tidemark::workflow
