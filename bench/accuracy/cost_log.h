// The measured cost of every key group of one job on one data set, and the map tasks that emit it.
//
// A job is measured once (measure.h). Its log is stored in a file, and simulate.h replays it in
// virtual time. Key groups are in key order.
//
// The log takes 48 bytes for each key group, and 8 bytes for each key group in the output of a map
// task.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tidemark/event.h"

namespace tidemark::bench {

// Number of measurements of a key group, from the fastest passes.
inline constexpr std::size_t kTimes = 3;

struct GroupCost {
  KeyHash key{};                 // streaming::HashKey() of the serialized key
  std::uint64_t size_bytes = 0;  // sum of RecordBytes()
  std::uint64_t emitted_bytes = 0;
  std::uint32_t values = 0;
  std::array<float, kTimes> seconds{};  // measured times, each above 0

  double mean_seconds() const;
  friend bool operator==(const GroupCost&, const GroupCost&) = default;
};

// A key group in the output of a map task, after its combiner.
struct GroupShare {
  std::uint32_t group = 0;  // index into CostLog::groups
  std::uint32_t size_bytes = 0;
  friend bool operator==(const GroupShare&, const GroupShare&) = default;
};

struct MapTaskLog {
  std::string input_name;
  std::uint64_t input_bytes = 0;
  std::vector<GroupShare> shares;  // indexed by group
  friend bool operator==(const MapTaskLog&, const MapTaskLog&) = default;
};

// The progress of a reduce function after a share of its time.
struct CurvePoint {
  float elapsed_share = 0;  // above 0, at most 1
  std::uint64_t bytes_read = 0;
  std::uint64_t values_read = 0;
  std::uint64_t bytes_emitted = 0;
  friend bool operator==(const CurvePoint&, const CurvePoint&) = default;
};
// points by elapsed share; at the last point, everything has been read
using Curve = std::vector<CurvePoint>;

struct CostLog {
  std::string identity;  // identifies job, parameters and inputs; must match in a cached log
  std::vector<GroupCost> groups;
  std::vector<MapTaskLog> map_tasks;
  // The partition of each group, by the number of reduce tasks, if the job has its own partitioner.
  // Empty for hash partitioning.
  std::map<std::uint32_t, std::vector<std::uint16_t>> partitions;
  std::map<std::uint32_t, Curve> curves;  // curves of expensive key groups, by group index

  double total_seconds() const;  // Returns the sum of the mean times of all key groups.
  friend bool operator==(const CostLog&, const CostLog&) = default;
};

// Replaces the file at `path`.
absl::Status SaveCostLog(const CostLog& log, const std::string& path);
// Returns NotFound if the file is missing, and DataLoss if it is not a complete cost log of this
// format.
absl::StatusOr<CostLog> LoadCostLog(const std::string& path);
// Returns the identity without reading the remainder of the file.
absl::StatusOr<std::string> ReadCostLogIdentity(const std::string& path);

}  // namespace tidemark::bench
