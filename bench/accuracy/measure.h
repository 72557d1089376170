// Measures the cost of every key group of a job, by running its map and reduce functions in this
// process on one thread.
//
// All key groups are timed in three passes, or in up to nine for a short job. A temporary
// disturbance therefore does not affect the same key groups each time. The fastest three passes of
// each key group count. If there are only three passes, the second fastest replaces the slowest.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/accuracy/cost_log.h"
#include "bench/accuracy/mapped_job.h"

namespace tidemark::bench {

// Numbers of reduce tasks for which a log contains the partitions, if the job has its own
// partitioner.
inline constexpr std::uint32_t kPartitionCounts[] = {1, 7, 8, 14, 15, 16, 30, 31, 32, 62, 64};

// Writes map outputs to `directory`, and finally removes the directory. Takes as long as all passes
// of the job without parallelism, and at least a few seconds.
absl::StatusOr<CostLog> MeasureJob(const JobInputs& inputs, const std::string& directory);

// Writes the log of the job on these inputs to `path`, unless the log exists. If several processes
// have logs in one directory, only one of them measures at a time.
absl::Status EnsureMeasured(const JobInputs& inputs, const std::string& path, bool remeasure);

}  // namespace tidemark::bench
