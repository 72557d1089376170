// Replays every seed of every row, several rows at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/accuracy/data_sets.h"
#include "bench/accuracy/lateness.h"
#include "bench/accuracy/rows.h"
#include "bench/accuracy/simulate.h"

namespace tidemark::bench {

struct ReplayOptions {
  std::uint64_t seeds = 5;  // 1, 2, ...
  std::uint32_t lambda = 500;
  std::vector<std::string> indicators;
  unsigned jobs = 1;      // concurrent rows
  std::string cost_logs;  // a directory
  bool remeasure = false;
  bool keep_curves = false;  // whether to keep RunResult::simulation
};

// The results of one row with one seed.
struct RunResult {
  std::uint64_t seed = 0;
  std::vector<Metrics> metrics;    // by indicator, like RowResult
  std::vector<Lateness> lateness;  // by indicator, like RowResult
  Simulation simulation;           // empty unless requested
};

struct RowResult {
  Row row;
  std::vector<std::string> indicators;  // the oracle is last
  std::vector<RunResult> runs;          // by seed
  double tick_seconds = 0;              // mean time of one update; not deterministic
};

// Computes the figures of one run.
RunResult MeasureRun(Simulation simulation, std::uint64_t seed, bool keep_curves);

// First measures missing cost logs, one at a time, then replays the rows. Skips a row without data
// and prints a notice. Stops at the first other error. Live rows run last, one by one.
absl::StatusOr<std::vector<RowResult>> ReplayRows(const std::vector<Row>& rows,
                                                  const DataSets& data_sets,
                                                  const ReplayOptions& options);
// Replays one row with the given inputs.
absl::StatusOr<RowResult> ReplayRow(const Row& row, const JobInputs& inputs,
                                    const ReplayOptions& options);

}  // namespace tidemark::bench
