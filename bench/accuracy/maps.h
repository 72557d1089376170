// Evaluates map phases. Recorded map tasks of a Hadoop job are replayed on fewer slots as a job
// without reduce tasks, with the reports of a connector.
//
// The input and duration of tasks are recorded. Their start times follow from the slots. A task
// reads at a steady pace, since traces contain no details.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/accuracy/mapped_job.h"
#include "bench/accuracy/replay.h"
#include "bench/accuracy/rows.h"
#include "bench/workflow/trace.h"

namespace tidemark::bench {

// Changes of a row's tasks relative to its trace.
inline constexpr char kWholeFiles[] = "whole-files";    // a quarter of the files have ten splits
inline constexpr char kSkewedFiles[] = "skewed-files";  // tasks of 1 to 40 splits, few large
inline constexpr char kSmallestFirst[] = "smallest-first";  // skewed files, ordered by size
inline constexpr char kLargestFirst[] = "largest-first";    // skewed files in the opposite order
// Only the number of tasks is known.
inline constexpr char kNoSizes[] = "no-sizes";

// Returns the job of a row in the trace `maps` on the row's slots. Seed 1 keeps the order of the
// trace, and other seeds permute it. `maps` must have a map stage.
Trace MapPhaseOf(const Trace& maps, const Row& row, std::uint64_t seed);

// Computes Tidemark's predictions and linear ones. "bytes-done" and "tasks-done" extrapolate
// finished bytes and tasks. "map-pace" also uses the slots, like the map phase of a job with reduce
// tasks.
absl::StatusOr<Simulation> ReplayMaps(const Trace& trace, int updates);

// Evaluates every seed of a row. Returns NotFound if its job is not in the trace.
absl::StatusOr<RowResult> RunMaps(const Row& row, const JobInputs& inputs,
                                  const ReplayOptions& options);

}  // namespace tidemark::bench
