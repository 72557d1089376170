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
  unsigned jobs = 1;      // number of concurrent rows
  std::string cost_logs;  // directory of cost logs
  bool remeasure = false;
  bool keep_curves = false;  // if true, RunResult::simulation is kept
};

// The results of one row for one seed.
struct RunResult {
  std::uint64_t seed = 0;
  std::vector<Metrics> metrics;    // by indicator, in the order of RowResult::indicators
  std::vector<Lateness> lateness;  // by indicator, in the order of RowResult::indicators
  Simulation simulation;           // empty unless requested
};

struct RowResult {
  Row row;
  std::vector<std::string> indicators;  // with the oracle as the last one
  std::vector<RunResult> runs;          // by seed
  double tick_seconds = 0;              // mean time of one update; not deterministic
};

// Computes the metrics of one run.
RunResult MeasureRun(Simulation simulation, std::uint64_t seed, bool keep_curves);

// Measures missing cost logs, one at a time, and then replays the rows. Skips a row without data
// and prints a notice. Stops at the first other error. Live rows run last, one at a time.
absl::StatusOr<std::vector<RowResult>> ReplayRows(const std::vector<Row>& rows,
                                                  const DataSets& data_sets,
                                                  const ReplayOptions& options);
// Replays one row with the given inputs.
absl::StatusOr<RowResult> ReplayRow(const Row& row, const JobInputs& inputs,
                                    const ReplayOptions& options);

}  // namespace tidemark::bench
