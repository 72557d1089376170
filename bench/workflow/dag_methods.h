// The methods of the papers for a DAG of stages, for comparison with Tidemark.
//
// Pure functions and values without a clock; deterministic.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "master/forecast/dag/workflow_state.h"
#include "master/forecast/placement/allocation.h"
#include "master/forecast/placement/dag.h"

namespace tidemark::papers {

// Returns the longest chain of stages, first to last; on a tie, the one with the lower index.
// Negative durations count as zero. REQUIRES: `order` is topological. O(stages + edges).
struct CriticalPath {
  std::vector<std::size_t> stages;
  double seconds = 0;
};
CriticalPath LongestPath(const placement::Parents& parents, std::span<const std::size_t> order,
                         std::span<const double> seconds);

// A DAG of stages at one instant. Times are seconds.
struct DagNow {
  const std::vector<dag::StageNow>& stages;
  double elapsed = 0;                       // time since the start
  std::span<const PastRun* const> history;  // past runs, the newest first
  const placement::Resourcing& on;
};

struct DagForecast {
  std::optional<double> remaining;  // seconds from now; empty if it is too early
  std::vector<double> stage_ends;   // seconds from now, the stages of DagNow first; may be empty
};

// Returns the names of the methods for a DAG of stages:
//   tasks-done        elapsed time over the share of finished tasks (Spark console)
//   stage-weighted    the same, with every stage counting as one
//   critical-path     the longest chain of remaining stages, each on all slots (ParaTimer)
//   mean-times-waves  sum over stages of mean task time x remaining waves ([GB] eq. 2)
//   alg1-median, alg1-mean       [BOE] Algorithm 1 as printed, with that task time
//   alg1-fluid                   the same without charging overlapping waves, with the mean
//   alg2-normal, alg2-empirical  [BOE] Algorithm 2
// All but the first two use the task times of a stage's past runs, else of its finished tasks, else
// of the other stages.
std::vector<std::string> DagMethods();
// Returns an empty forecast for an unknown method, a cycle, or stages that do not fit the cluster.
DagForecast EstimateDag(absl::string_view method, const DagNow& now);

}  // namespace tidemark::papers
