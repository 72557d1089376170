// The methods of others, faithful to their papers, to compare Tidemark with.
//
// None runs unless somebody asks for it by name, and Tidemark's own estimate uses none of them.
// There are two kinds, by what they look at; a new method is a line in job_methods.cc or
// dag_methods.cc. Titles of the papers are in docs/references.md.
//
// Pure functions and values: not thread-safe, no clock. The same calls give the same bits.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "master/forecast/dag/workflow_state.h"
#include "master/forecast/placement/stage_work.h"
#include "master/forecast/progress_indicator.h"

namespace tidemark::papers {

// Methods for the reduce phase of one job, fed with its events:
//   nearestfit      neighbours and curves through the times of key groups ([NF] 3 to 5)
//   hadoop          time so far over the mean share of the bytes that tasks have read ([NF] 7.1)
//   jobratio        bytes left x seconds per byte of the job (eq. 13, 14)
//   taskratio       bytes left x seconds per byte of each task (eq. 15, 16)
//   jobratio-ewma, taskratio-ewma   the same, smoothed over time
std::vector<std::string> JobMethods();
// Null for an unknown name.
std::unique_ptr<model::ProgressIndicator> MakeJobMethod(const std::string& name);

// A DAG of stages at one instant. Seconds.
struct DagNow {
  const std::vector<workflow::StageNow>& stages;
  double elapsed = 0;                          // since it began
  std::span<const RunProfile* const> history;  // earlier runs, newest first
  const schedule::Resourcing& on;
};

struct DagForecast {
  std::optional<double> remaining;  // seconds from now; empty: too early to tell
  std::vector<double> stage_ends;   // likewise, of the stages of DagNow first; may be empty
};

// Methods for a DAG of stages:
//   tasks-done        elapsed over the share of the visible tasks that have ended (Spark's console)
//   stage-weighted    the same, every stage counting as one
//   critical-path     the longest chain of what is left of each stage on all slots (ParaTimer)
//   mean-times-waves  sum over stages of mean task time x waves left (gray-box model, eq. 2)
//   alg1-median, alg1-mean       [BOE] Algorithm 1 as printed, with that task time
//   alg1-fluid                   the same without charging overlapping waves, with the mean
//   alg2-normal, alg2-empirical  [BOE] Algorithm 2
// All but the first two take a stage's task times from its earlier runs, untouched, else from its
// finished tasks, else from the other stages.
std::vector<std::string> DagMethods();
// Returns an empty forecast for an unknown method, a cycle, or stages that do not fit the cluster.
DagForecast EstimateDag(absl::string_view method, const DagNow& now);

}  // namespace tidemark::papers
