// Measures the cost of every key group of a job. Runs the job's map and reduce functions in this
// process on one thread.
//
// All key groups are timed in three passes, or up to nine for a short job. A temporary disturbance
// therefore does not affect the same key groups each time. The fastest three passes of each key
// group count. If there are only three passes, the second replaces the slowest.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/accuracy/cost_log.h"
#include "bench/accuracy/mapped_job.h"

namespace tidemark::bench {

// Numbers of reduce tasks for which a log contains the partitions of a job with its own
// partitioner.
inline constexpr std::uint32_t kPartitionCounts[] = {1, 7, 8, 14, 15, 16, 30, 31, 32, 62, 64};

// Writes map outputs to `directory`, and removes the directory at the end. Takes as long as the job
// without parallelism and with its passes, or a few seconds.
absl::StatusOr<CostLog> MeasureJob(const JobInputs& inputs, const std::string& directory);

// Writes the log of the job on these inputs to `path`, unless it exists. Only one of several
// processes with logs in one directory measures at a time.
absl::Status EnsureMeasured(const JobInputs& inputs, const std::string& path, bool remeasure);

}  // namespace tidemark::bench
