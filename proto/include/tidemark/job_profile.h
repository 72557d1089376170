// Measured properties of a job and a node, which are the profiles in [BOE] Table 1. Comments give
// the symbols of that table.
//
//   tidemark::ResourceProfile node = {.cores = 8};
//   tidemark::Plan plan = {.cluster = {.slots = 16, .node = node}};
//   plan.jobs.push_back({.name = "parse", .profile = summary.profile});   // a JobSummary's
//
// Units are bytes and bytes per second. 0 means unknown. Values are copyable, comparable, and safe
// to share between threads when const. They have no invariants.
#pragma once

#include <cstdint>

#include "absl/time/time.h"

namespace tidemark {

// Measured properties of one run of a MapReduce job.
struct JobProfile {
  // Number of containers that ran at the same time.
  std::uint32_t slots = 0;
  // N_m and N_r.
  std::uint32_t map_tasks = 0;
  std::uint32_t reduce_tasks = 0;
  // B: mean input of a map task.
  double split_bytes = 0;
  // alpha_m: bytes that map tasks write, divided by bytes that they read.
  double map_selectivity = 0;
  // alpha_r: bytes that reduce tasks write, divided by bytes that they read.
  double reduce_selectivity = 0;
  // Mean durations. The time of a reduce task counts from the end of the last map task.
  absl::Duration map_task_time;
  absl::Duration reduce_task_time;
  // Standard deviation of task times divided by their mean.
  double map_task_variation = 0;
  double reduce_task_variation = 0;
  // Mean processor time of a task.
  absl::Duration map_cpu_time;
  absl::Duration reduce_cpu_time;
  // Mean processor time of a task at its first report, over the tasks that had read no input by
  // then. Part of the times above.
  absl::Duration map_start_cpu_time;
  absl::Duration reduce_start_cpu_time;
  // Median time from the end of a task to the start of the next task in its slot. Tasks of other
  // jobs in the slot lengthen it. Zero if a run has too few such times.
  absl::Duration slot_idle_time;
  // Mean time from the end of a reduce task's fetches to its first reduce function, in which it
  // sorts its input.
  absl::Duration reduce_sort_time;
  // alpha_s: share of the reduce input that is sorted and written to disk a second time.
  double second_sort_fraction = 0;
  friend bool operator==(const JobProfile&, const JobProfile&) = default;
};

// The capacity of one node, as measured by `tidemark profile node`.
struct ResourceProfile {
  // theta_dr and theta_dw.
  double disk_read = 0;
  double disk_write = 0;
  // theta_dfsr and theta_dfsw, for the distributed file system.
  double dfs_read = 0;
  double dfs_write = 0;
  // theta_net.
  double network = 0;
  // N_cores.
  double cores = 0;
  friend bool operator==(const ResourceProfile&, const ResourceProfile&) = default;
};

}  // namespace tidemark
