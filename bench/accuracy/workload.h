// One run's reduce tasks: which key groups each has and what they cost this time.
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
  // How long the phase would take with the expected costs on perfect nodes: all costs are
  // multiplied by one number to that end, as if the machine were slower.
  double phase_seconds = 2400;
  double cost_noise = 0;  // standard deviation of the logarithm, on top of what was measured
};

// Key groups stand by reduce task, and within one in the order of the log. Memory: 14 bytes for
// each key group.
struct Workload {
  std::vector<std::uint16_t> partitions;       // of each group of the log
  std::vector<std::uint32_t> groups;           // index into the log
  std::vector<float> seconds;                  // of groups, this time, at a nominal speed of 1
  std::vector<float> expected_seconds;         // of groups, the mean
  std::vector<std::size_t> task_begins = {0};  // in `groups`; one more than there are tasks

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

// The seed decides where keys are hashed to and which of its measured times each group takes.
// InvalidArgument: the log does not know where the job's own partitioner puts so many tasks' keys.
absl::StatusOr<Workload> MakeWorkload(const CostLog& log, const WorkloadOptions& options);

}  // namespace tidemark::bench
