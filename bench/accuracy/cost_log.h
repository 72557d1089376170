// What every key group of one job on one data set costs, as measured, and who emits it.
//
// Measured once (measure.h), kept in a file, replayed in virtual time as often as wanted
// (simulate.h). Key groups are in the order in which a sort by key gives them.
//
// Memory: 48 bytes for each key group and 8 for each that a map task emits.
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

// Of each key group, in the fastest passes over the job.
inline constexpr std::size_t kTimes = 3;

struct GroupCost {
  KeyHash key{};                 // streaming::HashKey() of the serialized key
  std::uint64_t size_bytes = 0;  // sum of RecordBytes()
  std::uint64_t emitted_bytes = 0;
  std::uint32_t values = 0;
  std::array<float, kTimes> seconds{};  // each above 0

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
  std::vector<GroupShare> shares;  // by group
  friend bool operator==(const MapTaskLog&, const MapTaskLog&) = default;
};

// How far a reduce function was when a share of its time had passed.
struct CurvePoint {
  float elapsed_share = 0;  // above 0, at most 1
  std::uint64_t bytes_read = 0;
  std::uint64_t values_read = 0;
  std::uint64_t bytes_emitted = 0;
  friend bool operator==(const CurvePoint&, const CurvePoint&) = default;
};
using Curve = std::vector<CurvePoint>;  // by elapsed share; the last one has read everything

struct CostLog {
  std::string identity;  // of job, parameters and inputs: what a cached log must agree in
  std::vector<GroupCost> groups;
  std::vector<MapTaskLog> map_tasks;
  // Of a job with a partitioner of its own, by number of reduce tasks: the partition of each group.
  // Empty for one that hashes.
  std::map<std::uint32_t, std::vector<std::uint16_t>> partitions;
  std::map<std::uint32_t, Curve> curves;  // of heavy key groups, by index

  double total_seconds() const;  // sum of the means
  friend bool operator==(const CostLog&, const CostLog&) = default;
};

// Replaces the file at `path`.
absl::Status SaveCostLog(const CostLog& log, const std::string& path);
// NotFound: no such file. DataLoss: not a whole cost log of this format.
absl::StatusOr<CostLog> LoadCostLog(const std::string& path);
// The identity alone, without reading the rest.
absl::StatusOr<std::string> ReadCostLogIdentity(const std::string& path);

}  // namespace tidemark::bench
