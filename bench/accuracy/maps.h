// Evaluates map phases. Recorded map tasks of a Hadoop job are replayed on fewer slots, as a job
// without reduce tasks whose connector reports.
//
// The inputs and durations of the tasks are recorded. Their start times depend on the slots. Since
// traces contain no details, a task reads at a steady pace.
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

// Differences between the tasks of a row and its trace.
inline constexpr char kWholeFiles[] = "whole-files";  // a quarter of the files have ten splits
// tasks of 1 to 40 splits, few of which are large
inline constexpr char kSkewedFiles[] = "skewed-files";
// tasks of kSkewedFiles in ascending order of size
inline constexpr char kSmallestFirst[] = "smallest-first";
// tasks of kSkewedFiles in descending order of size
inline constexpr char kLargestFirst[] = "largest-first";
// Only the number of tasks is known.
inline constexpr char kNoSizes[] = "no-sizes";

// Returns the job of a row in the trace `maps`, run on the slots of the row. Seed 1 preserves the
// order of the trace, and other seeds permute the tasks. `maps` must have a map stage.
Trace MapPhaseOf(const Trace& maps, const Row& row, std::uint64_t seed);

// Computes the predictions of Tidemark and of linear indicators. "bytes-done" and "tasks-done"
// extrapolate finished bytes and tasks. "map-pace" also uses the slots, like the map phase of a job
// with reduce tasks.
absl::StatusOr<Simulation> ReplayMaps(const Trace& trace, int updates);

// Evaluates every seed of a row. Returns NotFound if the trace does not contain its job.
absl::StatusOr<RowResult> RunMaps(const Row& row, const JobInputs& inputs,
                                  const ReplayOptions& options);

}  // namespace tidemark::bench
