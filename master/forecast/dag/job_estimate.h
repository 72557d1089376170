// Estimates the task times of a job that has not started, from its past runs.
//
// Bottleneck oriented estimation ([BOE] 4.2) gives the time of a task under the conditions of the
// run and under the present ones: other data per task, another number of tasks per node. Each run's
// measured task time is scaled by their ratio. The estimate is the mean of the logarithms. Its
// deviation combines the scatter of the runs with the usual scatter between runs of the same work.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "master/forecast/durations/task_times.h"
#include "tidemark/job_profile.h"
#include "tidemark/past_run.h"
#include "tidemark/plan.h"

namespace tidemark::dag {

struct PhaseEstimate {
  std::uint64_t tasks = 0;
  durations::TimeDistribution times;  // seconds; empty if unknown
  std::string bottleneck;             // empty without a known node
};

// Past runs of an application of stages, the newest first; at least one.
using StageRuns = std::vector<PastRun>;

struct JobEstimate {
  PhaseEstimate map;
  PhaseEstimate reduce;
  // For an application of stages, whose tasks are also all in `map`; null for a MapReduce job.
  std::shared_ptr<const StageRuns> stages;
  double deviation = 0;   // of the logarithm of a factor on all its tasks
  bool is_known = false;  // backed by a run or a profile
};

// Returns the estimate. `runs`: the newest first; the job's own profile precedes them.
// `data_factor`: factor on the data. It multiplies the number of map tasks with unchanged times,
// and the data of each reduce task, even if the bytes are unknown. Without runs or a profile the
// result has only the numbers of tasks that the job declares. Cost: O(runs).
JobEstimate EstimateJobTasks(const PlannedJob& job, std::span<const JobProfile> runs,
                             const Cluster& cluster, double data_factor);

// Returns the runs (may be null) with `data_factor` times the data: more tasks in stages that read
// the input, and longer tasks in the following stages. Cost: O(stages + task times), or O(1) for a
// factor of 1.
std::shared_ptr<const StageRuns> WithData(std::shared_ptr<const StageRuns> runs,
                                          double data_factor);

// Returns a run of an application of stages as that of a job with map tasks alone. Cost: O(stages +
// times).
JobProfile AsOnePhase(const PastRun& run);

// Returns the mean task time of a stage of a past run, in seconds; 0 without times.
double MeanTaskSeconds(const PastStage& stage);

// Returns the seconds of the job alone on `slots`, without its deviation; 0 if unknown.
double SecondsAlone(const JobEstimate& expected, double slots);

}  // namespace tidemark::dag
