// Measured task times of queries at several numbers of executors, as JSON lines:
//   {"size": "2g", "query": 1, "edges_parent_child": [[0, 1]], "stages": [{"stage": 0,
//    "num_tasks": 12, "first_wave": {"2": [4371, 4368]}, "rest_wave": {"2": [2053, ...]}}]} Times
//    are in milliseconds, by number of executors. Each executor runs one task at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/workflow/virtual_cluster.h"

namespace tidemark::bench {

struct MeasuredQuery {
  std::string size;
  int query = 0;
  std::map<int, std::vector<MeasuredStage>> by_executors;
};

// Fails with InvalidArgument, which contains the number of the first invalid line.
absl::StatusOr<std::vector<MeasuredQuery>> ReadTpchTimes(const std::string& path);

}  // namespace tidemark::bench
