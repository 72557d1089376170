// Runs rows live, including map and shuffle phases. Worker processes of the test engine run on
// slots of this machine, with a master on loopback.
#pragma once

#include "absl/status/statusor.h"
#include "bench/accuracy/mapped_job.h"
#include "bench/accuracy/replay.h"
#include "bench/accuracy/rows.h"

namespace tidemark::bench {

// Runs the job once per seed, one run after another, with a snapshot per second. Evaluates all
// indicators by the event log of each run. Also evaluates kWithHistory if there is more than one
// seed. The workers are this program with the argument "worker".
absl::StatusOr<RowResult> RunLive(const Row& row, const JobInputs& inputs,
                                  const ReplayOptions& options);

}  // namespace tidemark::bench
