#include "master/workflow/mapreduce_model.h"

namespace tidemark::workflow {

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
  const double share_bytes = job.split_bytes * job.map_tasks / tasks;  // of the job's whole input
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

TaskModel SparkTask(const SparkProfile& stage) {
  return {
      .load = stage.load,
      .sub_stages = {{.name = "compute",
                      .operations = {{Resource::kDfsRead, stage.input_bytes},
                                     {Resource::kDiskRead, stage.shuffle_read_bytes},
                                     {Resource::kNetwork, stage.shuffle_read_bytes},
                                     {Resource::kCpu, stage.input_bytes + stage.shuffle_read_bytes,
                                      stage.throughput},
                                     {Resource::kDfsWrite, stage.output_bytes}}},
                     {.name = "shuffle write",
                      .operations = {{Resource::kDiskWrite, stage.shuffle_write_bytes}}}}};
}

}  // namespace tidemark::workflow
