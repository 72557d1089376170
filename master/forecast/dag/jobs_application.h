// The jobs of a workflow, of which some run, some wait and some are over, as an application.
//
// Each job is an owner and has the stages that its own estimate or its earlier runs know of. A
// running one keeps to its own forecast: a draw takes one remaining time from the forecast's
// distribution, and the tasks that the job has left share it as the job's own estimate says, or
// evenly where that is not known. So it ends then if it keeps the slots it has, frees each slot
// when a task ends, and gains when others leave theirs. A job that waits takes the tasks that are
// expected of it; one of which nothing is known takes those of the other jobs, as expected or as
// they were, and widely. If nothing is known of any, these are a guess that is wrong for all in the
// same way: it widens the bounds of the whole as much as those of one such job. One that should
// have reported and has not may be silent for as long again as it has been (Laplace: longer than t
// with probability w / (w + t)).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "master/forecast/dag/application_estimate.h"
#include "master/forecast/dag/expected_job.h"
#include "master/forecast/durations/task_times.h"
#include "master/forecast/placement/dag.h"

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
  bool is_guess = false;
};

// One job at an instant. Seconds.
struct LiveJob {
  bool is_over = false;
  double took = 0;  // if it is over; 0: not known
  bool is_running = false;
  ExpectedJob expected;
  // Running only:
  double elapsed = 0;
  bool is_of_stages = false;  // other ones than those of MapReduce: what is left of all is in `map`
  TasksLeft map;
  TasksLeft reduce;
  std::optional<RunningForecast> forecast;  // empty: it does not say yet, or has been proved wrong
  std::shared_ptr<const cost::StagesLeft> left;  // null: only the numbers of its tasks are known
  double left_age = 0;                           // for so long they have gone on since
  // Waiting only: since nothing held it back any more.
  double awaited = 0;
};

// The stages of job i in the application, which has it as owner i. Of a job whose stages are known
// these are where it begins and ends and have no tasks; its own are behind those of all jobs, with
// their numbers.
inline std::size_t MapStageOf(std::size_t job) { return 2 * job; }
inline std::size_t ReduceStageOf(std::size_t job) { return 2 * job + 1; }

struct JobsOptions {
  // Of the log of a factor common to all jobs of a run: more than that of the stages of one query
  // (kCommonDeviation), and what the first jobs show of the others. Taste.
  double common_deviation = 0.15;
  // By this factor all jobs of this run seem to take longer than expected.
  double shift = 1;
};

// All input of an estimate of jobs: a value, so that the estimate needs no access to the workflow.
struct JobsNow {
  std::vector<LiveJob> jobs;
  schedule::Parents parents;
  schedule::Resourcing on;
  JobsOptions options;
};

// `jobs` as many as `parents`. O(draws x (stages + running tasks) + task times of earlier runs).
estimate::Application ApplicationOfJobs(std::span<const LiveJob> jobs,
                                        const schedule::Parents& parents,
                                        const schedule::Resourcing& on, const JobsOptions& options);

// Of that application. Errors and cost: those of EstimateApplication().
absl::StatusOr<estimate::Estimate> EstimateJobs(const JobsNow& question);

}  // namespace tidemark::workflow
