// Runs rows live, including their map and shuffle phases. Worker processes of the test engine run
// on slots of this machine, with a local master.
#pragma once

#include "absl/status/statusor.h"
#include "bench/accuracy/mapped_job.h"
#include "bench/accuracy/replay.h"
#include "bench/accuracy/rows.h"

namespace tidemark::bench {

// Runs the job once for each seed, sequentially, with a snapshot every second. Evaluates all
// indicators on the event log of each run. If there are several seeds, also evaluates kWithHistory.
// The workers are this program with the argument "worker".
absl::StatusOr<RowResult> RunLive(const Row& row, const JobInputs& inputs,
                                  const ReplayOptions& options);

}  // namespace tidemark::bench
