// The jobs of a workflow (running, waiting or over) as one application.
//
// Each job is an owner. Its stages come from its estimate or from its past runs. A running job
// keeps its own forecast. A draw takes one remaining time from the distribution of that forecast.
// The job's remaining tasks share this time in proportion to the job's own estimate, or evenly if
// the job has no estimate. On its own slots, the job then ends as forecast. The job frees each slot
// at the end of a task, and benefits when other jobs free slots.
//
// A waiting job has its estimated tasks. A job without any evidence has the mean tasks of the other
// jobs, with a wide deviation. If all jobs lack evidence, their guesses have a common error, which
// widens the bounds of the workflow by the same factor as the bounds of one job. Running jobs
// without evidence take the same quantile of their forecasts in each draw. An overdue job
// stays silent for longer than t with probability w / (w + t), where w is its present silence
// (Laplace).
//
// If the node of the cluster is known, tasks share its resources, state by state. A running job's
// forecast is assumed to be right for the present state, so its tasks' times alone are computed
// from their present speed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "master/forecast/dag/application_forecast.h"
#include "master/forecast/dag/job_estimate.h"
#include "master/forecast/dag/workflow_state.h"
#include "master/forecast/durations/task_times.h"
#include "master/forecast/placement/dag.h"

namespace tidemark::dag {

struct TasksLeft {
  std::uint64_t pending = 0;
  std::uint64_t running = 0;
};

// The forecast of a running job by its own estimator, in seconds. 0 <= lower <= remaining <= upper.
struct RunningForecast {
  double remaining = 0;  // median
  double lower = 0;      // 90 % interval
  double upper = 0;
  double map_share = 0;  // share of the remaining time before the reduce phase
  bool is_guess = false;
};

// One job at one point in time. Times are in seconds.
struct LiveJob {
  bool is_over = false;
  double took = 0;  // duration if the job is over; 0 if unknown
  bool is_running = false;
  JobEstimate expected;
  // The following fields are for running jobs.
  double elapsed = 0;
  bool is_of_stages = false;  // not a MapReduce job; `map` has all remaining tasks
  TasksLeft map;
  TasksLeft reduce;
  std::optional<RunningForecast>
      forecast;  // empty before the first forecast, or if the job has outlasted its forecast
  std::shared_ptr<const durations::RemainingStages>
      left;  // null if only the numbers of tasks are known
  double left_age = 0;
  // For a waiting job, the time since the end of its last parent, and the same time at its start in
  // a past run of its workflow.
  double awaited = 0;
  double lag = 0;
};

// The stages of job i in the application, where it is owner i. If the job's stages are known, these
// two are its start and end and have no tasks. The known stages follow the stages of all jobs, with
// their own numbers.
inline std::size_t MapStageOf(std::size_t job) { return 2 * job; }
inline std::size_t ReduceStageOf(std::size_t job) { return 2 * job + 1; }

struct JobsOptions {
  // Deviation of the logarithm of a factor on all jobs of a run. It exceeds the deviation for the
  // stages of one query (kCommonDeviation), and determines how much the first jobs reveal about
  // later jobs. Chosen by hand.
  double common_deviation = 0.15;
  // The factor by which the jobs of this run exceed their estimates.
  double shift = 1;
  // The submissions of a workflow that may get unannounced jobs. Unset for other workflows.
  std::optional<Submissions> submissions;
  double elapsed = 0;  // seconds since the start of the first job
};

// The input of a forecast of jobs. It is a value, so that forecasting needs no access to the
// workflow.
struct JobsNow {
  std::vector<LiveJob> jobs;
  placement::Parents parents;
  placement::Resourcing on;
  JobsOptions options;
  Cluster cluster;  // tasks share the cluster's nodes if they are known
};

// Returns the application. REQUIRES: `jobs` and `parents` have the same size. O(draws x (stages +
// running tasks) + task times of past runs).
Application ApplicationOfJobs(std::span<const LiveJob> jobs, const placement::Parents& parents,
                              const placement::Resourcing& on, const JobsOptions& options,
                              const Cluster& cluster = {});

// Forecasts the application. Fails and costs like ForecastApplication().
absl::StatusOr<ApplicationForecast> ForecastJobs(const JobsNow& question);

}  // namespace tidemark::dag
