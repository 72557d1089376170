// Rows that judge map phases: the recorded map tasks of a Hadoop job, run again on fewer slots as a
// job that only maps, and told of as a connector tells.
//
// What a task read and how long it took are recorded; when it runs follows from the slots. A task
// reads at a steady pace: traces do not say more.
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

// How the tasks of a row differ from those of its trace.
inline constexpr char kWholeFiles[] = "whole-files";    // of ten splits, one in four is one task
inline constexpr char kSkewedFiles[] = "skewed-files";  // tasks of 1 to 40 splits, few large
inline constexpr char kSmallestFirst[] = "smallest-first";  // skewed files, ordered by size
inline constexpr char kLargestFirst[] = "largest-first";    // the same the other way round
// Nothing is known of them but how many there are.
inline constexpr char kNoSizes[] = "no-sizes";

// The job of a row in the trace `maps`, as it runs on the row's slots. Seed 1: tasks in the order
// of the trace, others: in another. REQUIRES: a map stage.
Trace MapPhaseOf(const Trace& maps, const Row& row, std::uint64_t seed);

// What Tidemark says while it runs, and beside it straight lines: "bytes-done" and "tasks-done"
// through what has ended or was read, "map-pace" with the slots, which is how the map phase of a
// job with reduce tasks is judged (model::MapPhaseEnd).
absl::StatusOr<Simulation> ReplayMaps(const Trace& trace, int updates);

// Every seed of a row. NotFound: its job is not in the trace.
absl::StatusOr<RowResult> RunMaps(const Row& row, const JobInputs& inputs,
                                  const ReplayOptions& options);

}  // namespace tidemark::bench
