// Measures what every key group of a job costs: the job's own map and reduce functions, run in this
// process by one thread.
//
// All key groups are timed in three passes, or up to nine of a short job: what disturbs the machine
// for a while does not make the same key groups seem dear each time. Of each key group the fastest
// three passes count; of three, the slowest counts as the second.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/accuracy/cost_log.h"
#include "bench/accuracy/mapped_job.h"

namespace tidemark::bench {

// Numbers of reduce tasks for which a log knows the partitions of a job with its own partitioner.
inline constexpr std::uint32_t kPartitionCounts[] = {1, 7, 8, 14, 15, 16, 30, 31, 32, 62, 64};

// `directory` takes the map outputs and is removed at the end. Takes as long as the job without
// parallelism, its reduce functions three to seven times, or a few seconds.
absl::StatusOr<CostLog> MeasureJob(const JobInputs& inputs, const std::string& directory);

// Leaves the log of the job on these very inputs at `path`: measures it unless it is there. Of
// several processes with logs in one directory, one at a time measures.
absl::Status EnsureMeasured(const JobInputs& inputs, const std::string& path, bool remeasure);

}  // namespace tidemark::bench
