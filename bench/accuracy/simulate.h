// Runs the reduce phase of a measured job on a virtual cluster, and asks indicators when it ends.
//
//   cost log --> workload --> timeline --> task agents --> events --> JobMonitor --> predictions
//               (a seed)     (the truth)  (virtual time)
//
// From the task agents on everything is the code that runs live. Deterministic: the same log and
// options give the same bits. Cost: about 0.2 us for each key group, what the indicators take, and
// a few milliseconds for each task.
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
  // Explicit keys per map task: a quarter of the real default, as the jobs are smaller, too.
  std::uint32_t lambda = 500;
  double phase_seconds = 2400;  // with expected costs on perfect nodes
  int updates = 100;            // equally spaced, the last one at the end
  std::vector<std::string> indicators;
  // Its costs are those of the log already.
  Scenario scenario;
};

struct IndicatorRecord {
  std::string indicator;
  std::vector<Prediction> predictions;  // seconds from the start of the phase
};

struct Simulation {
  Timeline timeline;                     // without the ends of key groups
  std::vector<IndicatorRecord> records;  // by option, then "oracle"
  std::uint64_t refused_events = 0;
  double tick_seconds = 0;  // of processor time, all updates together: not deterministic
};

inline constexpr char kOracle[] = "oracle";
// What Tidemark says of a live run when it knows the other runs of the row as earlier ones.
inline constexpr char kWithHistory[] = "tidemark-with-history";

absl::StatusOr<Simulation> Simulate(const CostLog& log, const SimulationOptions& options);

// What `indicator` predicts in `snapshot`; no end if it is not in there. `at` and the result are in
// seconds from the same instant.
Prediction PredictionOf(const next::Snapshot& snapshot, const std::string& indicator, double at);

}  // namespace tidemark::bench
