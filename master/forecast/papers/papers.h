// The methods of the papers, for comparison with Tidemark.
//
// A method runs only on request, and Tidemark's own forecast uses none of them. There are methods
// for one job and methods for a DAG; papers.cc lists both. docs/internals/references.md has the
// titles of the papers.
//
// Pure functions and values without a clock; deterministic. Not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "master/forecast/dag/workflow_state.h"
#include "master/forecast/placement/allocation.h"
#include "master/forecast/progress_indicator.h"

namespace tidemark::papers {

// Returns the names of the methods for the reduce phase of one job:
//   nearestfit      neighbours and curves through the times of key groups ([NF] 3 to 5)
//   hadoop          elapsed time over the mean share of the bytes that tasks have read ([NF] 7.1)
//   jobratio        remaining bytes x seconds per byte of the job ([NF] eq. 13, 14)
//   taskratio       remaining bytes x seconds per byte of each task ([NF] eq. 15, 16)
//   jobratio-ewma, taskratio-ewma   the same, smoothed over time
//   fit             nearestfit with curves only ([NF] 8.6)
std::vector<std::string> JobMethods();
// Creates the method, or returns null for an unknown name.
std::unique_ptr<forecast::ProgressIndicator> MakeJobMethod(const std::string& name);

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
