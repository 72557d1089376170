// Rows replayed: every seed of every row, several rows at a time.
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
  unsigned jobs = 1;      // rows at once
  std::string cost_logs;  // a directory
  bool remeasure = false;
  bool keep_curves = false;  // whether to keep RunResult::simulation
};

// One row with one seed.
struct RunResult {
  std::uint64_t seed = 0;
  std::vector<Metrics> metrics;    // by indicator, as in RowResult
  std::vector<Lateness> lateness;  // likewise
  Simulation simulation;           // empty unless asked for
};

struct RowResult {
  Row row;
  std::vector<std::string> indicators;  // the oracle last
  std::vector<RunResult> runs;          // by seed
  double tick_seconds = 0;              // of one update, in the mean: not deterministic
};

// The figures of one run.
RunResult MeasureRun(Simulation simulation, std::uint64_t seed, bool keep_curves);

// Measures first what has not been measured, alone; then replays. A row whose data is not there is
// left out with a notice. The first other error ends it all. Live rows run at last, one by one.
absl::StatusOr<std::vector<RowResult>> ReplayRows(const std::vector<Row>& rows,
                                                  const DataSets& data_sets,
                                                  const ReplayOptions& options);
// The same for a row whose inputs are given.
absl::StatusOr<RowResult> ReplayRow(const Row& row, const JobInputs& inputs,
                                    const ReplayOptions& options);

}  // namespace tidemark::bench
