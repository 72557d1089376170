// The reduce tasks of one run, with their key groups and the costs of the groups in this run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/accuracy/cost_log.h"

namespace tidemark::bench {

struct WorkloadOptions {
  std::uint64_t seed = 1;
  std::uint32_t slots = 7;
  std::uint32_t reduce_tasks = 7;
  // Length of the phase with the expected costs on perfect nodes. All costs are multiplied by one
  // factor to reach this length.
  double phase_seconds = 2400;
  double cost_noise = 0;  // additional standard deviation of the logarithm of a cost
};

// Key groups are sorted by reduce task, and within a task they have the order of the log. A key
// group takes 14 bytes.
struct Workload {
  std::vector<std::uint16_t> partitions;  // partition of each group of the log
  std::vector<std::uint32_t> groups;      // indexes into the log
  std::vector<float> seconds;           // seconds of each group in this run at a nominal speed of 1
  std::vector<float> expected_seconds;  // mean seconds of each group
  std::vector<std::size_t> task_begins = {0};  // indexes into `groups`, one more than tasks

  std::size_t task_count() const { return task_begins.size() - 1; }
  std::span<const std::uint32_t> GroupsOf(std::size_t task) const { return Part(groups, task); }
  std::span<const float> SecondsOf(std::size_t task) const { return Part(seconds, task); }
  std::span<const float> ExpectedSecondsOf(std::size_t task) const {
    return Part(expected_seconds, task);
  }

 private:
  template <typename T>
  std::span<const T> Part(const std::vector<T>& all, std::size_t task) const {
    return std::span(all).subspan(task_begins[task], task_begins[task + 1] - task_begins[task]);
  }
};

// Creates the workload of a run. The seed determines the hashes of keys and the measurement of each
// group. Returns InvalidArgument if the job has its own partitioner and the log does not contain
// its partitions for this number of tasks.
absl::StatusOr<Workload> MakeWorkload(const CostLog& log, const WorkloadOptions& options);

}  // namespace tidemark::bench
