// What a job and a node are like, as measured: the profiles of [BOE] Table 1.
#pragma once

#include <cstdint>

#include "absl/time/time.h"

namespace tidemark {

// Job and data profile, of one run. 0: not known.
struct JobProfile {
  std::uint32_t slots = 0;         // containers that the run had at once
  std::uint32_t map_tasks = 0;     // N_m
  std::uint32_t reduce_tasks = 0;  // N_r
  double split_bytes = 0;          // B
  double map_selectivity = 0;      // alpha_m: bytes written over bytes read by map tasks
  double reduce_selectivity = 0;   // alpha_r: the same of reduce tasks
  absl::Duration map_task_time;    // means; of reduce tasks from the end of the last map task on
  absl::Duration reduce_task_time;
  double map_task_variation = 0;  // standard deviation over mean
  double reduce_task_variation = 0;
  friend bool operator==(const JobProfile&, const JobProfile&) = default;
};

// Resource profile, of one node. Bytes per second; 0: not known.
struct ResourceProfile {
  double disk_read = 0;   // theta_dr
  double disk_write = 0;  // theta_dw
  double dfs_read = 0;    // theta_dfsr
  double dfs_write = 0;   // theta_dfsw
  double network = 0;     // theta_net
  double cores = 0;       // N_cores
  friend bool operator==(const ResourceProfile&, const ResourceProfile&) = default;
};

}  // namespace tidemark
