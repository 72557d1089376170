// When a workflow will end, before it starts and while it runs, as one distribution.
//
// A draw is a possible future: every stage gets a factor on its tasks' times, every task a time of
// its kind, and the cluster's policy places them (list_simulation.h); a factor common to the run
// then widens the bounds. Stages that earlier runs had and that are not there yet are expected to
// come. All draws use the same numbers at every update.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "master/workflow/stage_work.h"
#include "master/workflow/task_outlook.h"
#include "master/workflow/workflow_state.h"

namespace tidemark::workflow {

struct EstimateOptions {
  OutlookConstants outlook;
  std::size_t draws = 20;
  // Of the log of a factor on the whole of what is left: runs of one query at one size differ by 3
  // to 7 %, and up to 17 % in a tenth of the cases (measured on TPC-DS).
  double common_deviation = 0.05;
  // Stages may appear that nobody knows of (a Spark application without earlier runs).
  bool may_grow = false;
};

struct WorkflowNow {
  std::vector<StageNow> stages;
  double elapsed = 0;          // since it began
  std::size_t warm_slots = 0;  // idle containers that have run a task
  std::size_t jobs_seen = 1;   // submissions so far; with may_grow each makes another less likely
};

struct StageEstimate {
  double start = 0;  // seconds from now, medians; 0 when it runs or is done
  double end = 0;
  bool is_expected_only = false;  // from earlier runs, not there yet
  bool is_critical = false;       // on the critical path
};

struct WorkflowEstimate {
  double remaining = 0;  // median, seconds from now
  double lower = 0;      // 5 % and 95 % quantiles
  double upper = 0;
  std::vector<StageEstimate> stages;       // those of `now`, then expected ones
  std::vector<std::size_t> critical_path;  // first to last
  double known_share = 1;  // of the work that is left, the part that earlier runs or tasks back
};

// `history`: earlier runs of the same workflow, the most recent first. Errors: those of Check(), no
// draw. Cost: O(draws x tasks left x log containers + tasks of history), twice that while a stage
// is unknown.
absl::StatusOr<WorkflowEstimate> EstimateWorkflow(const WorkflowNow& now,
                                                  std::span<const WorkflowProfile* const> history,
                                                  const Resourcing& on,
                                                  const EstimateOptions& options);

}  // namespace tidemark::workflow
