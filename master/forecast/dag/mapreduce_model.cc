#include "master/forecast/dag/mapreduce_model.h"

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

}  // namespace tidemark::workflow
