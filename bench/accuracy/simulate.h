// Runs the reduce phase of a measured job on a virtual cluster, and records when indicators predict
// its end.
//
//   cost log --> workload --> timeline --> task agents --> events --> JobMonitor --> predictions
//               (a seed)     (the truth)  (virtual time)
//
// From the task agents on, the live code runs. Equal logs and options give equal bits. A run takes
// about 0.2 us per key group, a few milliseconds per task, and the time of the indicators.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/accuracy/cost_log.h"
#include "bench/accuracy/metrics.h"
#include "bench/accuracy/scenario.h"
#include "bench/accuracy/timeline.h"
#include "tidemark/job.h"

namespace tidemark::bench {

struct SimulationOptions {
  std::uint32_t slots = 7;
  std::uint32_t reduce_tasks = 7;
  std::uint64_t seed = 1;
  // Number of explicit keys per map task. It is a quarter of the default, since the jobs are
  // smaller.
  std::uint32_t lambda = 500;
  double phase_seconds = 2400;  // with expected costs on perfect nodes
  int updates = 100;            // number of updates, equally spaced and the last one at the end
  std::vector<std::string> indicators;
  // The costs in the log already include the changes that the scenario makes to costs.
  Scenario scenario;
};

struct IndicatorRecord {
  std::string indicator;
  std::vector<Prediction> predictions;  // seconds from the start of the phase
};

struct Simulation {
  Timeline timeline;  // does not contain the ends of key groups
  // in the order of the options, with the oracle as the last one
  std::vector<IndicatorRecord> records;
  std::uint64_t refused_events = 0;
  double tick_seconds = 0;  // processor time of all updates; not deterministic
};

inline constexpr char kOracle[] = "oracle";
// The name of Tidemark's predictions for a live run with the other runs of the row as past runs.
inline constexpr char kWithHistory[] = "tidemark-with-history";

absl::StatusOr<Simulation> Simulate(const CostLog& log, const SimulationOptions& options);

// Returns the prediction of `indicator` in `snapshot`. It has no end if the snapshot does not
// contain the indicator. `at` and the result are in seconds since the same time.
Prediction PredictionOf(const Snapshot& snapshot, const std::string& indicator, double at);

}  // namespace tidemark::bench
