// When the jobs of a workflow will end, of which some run, some wait and some are over.
//
// A draw is a possible future, as in workflow_estimate.h. A running job keeps to its own forecast:
// a draw takes one remaining time from the forecast's distribution and spreads it over the tasks
// that the job has left, so that it ends then if it keeps the slots it has, frees slots as its
// tasks end, and gains when others leave theirs. A job that waits takes the tasks of its outlook,
// one of which nothing is known those of the other jobs, by their outlooks or by
// what they took, and widely. One that should have reported
// and has not may be silent for as long again as it has been (Laplace: longer than t with
// probability w / (w + t)).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "master/workflow/dag.h"
#include "master/workflow/job_outlook.h"
#include "master/workflow/stage_work.h"

namespace tidemark::workflow {

struct TasksLeft {
  std::uint64_t pending = 0;
  std::uint64_t running = 0;
};

// What a running job's own estimator says. Seconds, 0 <= lower <= remaining <= upper.
struct RunningForecast {
  double remaining = 0;  // median
  double lower = 0;      // 90 % interval
  double upper = 0;
  double map_share = 0;  // of what remains, before its reduce phase
};

// One job at an instant. Seconds.
struct LiveJob {
  bool is_over = false;
  double took = 0;  // if it is over; 0: not known
  bool is_running = false;
  JobOutlook outlook;
  // Running only:
  double elapsed = 0;
  TasksLeft map;
  TasksLeft reduce;
  std::optional<RunningForecast> forecast;  // empty: it does not say yet, or has been proved wrong
  // Waiting only: since nothing held it back any more.
  double awaited = 0;
};

struct LiveStage {
  double start = 0;  // from now, medians; 0 when it runs or has no tasks left
  double end = 0;
};

struct LiveJobEstimate {
  double start = 0;  // from now, medians; 0 when it runs or is over
  double end = 0;
  double lower = 0;  // 5 % and 95 % quantiles of its end
  double upper = 0;
  LiveStage map;
  LiveStage reduce;
  bool is_critical = false;
};

struct LiveEstimate {
  double remaining = 0;  // median, from now
  double lower = 0;      // 5 % and 95 % quantiles
  double upper = 0;
  std::vector<LiveJobEstimate> jobs;
  std::vector<std::size_t> critical_path;  // jobs, first to last
  double known_share = 1;                  // of the seconds left of all jobs
};

struct LiveOptions {
  std::size_t draws = 20;
  // Of the log of a factor common to all jobs that have not begun.
  double common_deviation = 0.08;  // as in EstimateOptions
  // What this run has shown: by so much longer than their outlooks all jobs are expected to take.
  double shift = 1;
};

// All that EstimateLive() looks at: a value, so that it can be answered without the workflow.
struct LiveQuestion {
  std::vector<LiveJob> jobs;
  Parents parents;
  Resourcing on;
  LiveOptions options;
};

// `jobs` as many as `parents`, which have no cycle; job i is owner i of `on`. InvalidArgument: a
// policy without its queues. Cost: O(draws x n (log slots + jobs)) for n tasks left, or, of more,
// n = min(20,000, 1,000,000 / jobs) + 2 x jobs.
absl::StatusOr<LiveEstimate> EstimateLive(std::span<const LiveJob> jobs, const Parents& parents,
                                          const Resourcing& on, const LiveOptions& options);
inline absl::StatusOr<LiveEstimate> EstimateLive(const LiveQuestion& question) {
  return EstimateLive(question.jobs, question.parents, question.on, question.options);
}

}  // namespace tidemark::workflow
