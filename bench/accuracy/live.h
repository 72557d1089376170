// Rows that really run: the test engine's worker processes on slots of this machine, watched by
// a master on loopback, on the wall clock, map and shuffle phases included.
#pragma once

#include "absl/status/statusor.h"
#include "bench/accuracy/mapped_job.h"
#include "bench/accuracy/replay.h"
#include "bench/accuracy/rows.h"

namespace tidemark::bench {

// Runs the job once for each seed, one after the other, with a snapshot each second, and judges all
// indicators by the event log of each run; with more seeds than one, kWithHistory, too. Its workers
// are this program, started with the argument "worker".
absl::StatusOr<RowResult> RunLive(const Row& row, const JobInputs& inputs,
                                  const ReplayOptions& options);

}  // namespace tidemark::bench
