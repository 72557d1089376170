// Estimates the task times of a job that has not started, from its past runs.
//
// Bottleneck oriented estimation ([BOE] 4.2) gives the time of a task under the conditions of the
// run and under the present conditions, which may differ in the data per task and in the tasks per
// node. Each run's measured task time is scaled by the ratio of the two times. The estimate is the
// geometric mean over the runs. The deviation of the estimate combines the scatter of the runs with
// the usual scatter between runs of the same work.
//
// The bytes of a task and the speeds of its node give the time of its reads, writes and transfers.
// If the processor time was measured, no resource explains the remaining time (t_load of [BOE]). If
// the processor time is unknown, the remaining time counts as processor time, unless reads, writes
// and transfers explain most of the measured time.
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
  // Task times in seconds while tasks of the phase run on all slots. Empty if unknown.
  durations::TimeDistribution times;
  std::string bottleneck;  // empty if the node is unknown
  // A task's use of the node, and the task's time alone on a node relative to `times`. Empty if the
  // node is unknown.
  placement::TaskDemand demand;
  double alone = 1;
};

// Past runs of an application of stages, newest first; at least one.
using StageRuns = std::vector<PastRun>;

struct JobEstimate {
  PhaseEstimate map;
  PhaseEstimate reduce;
  // The past runs of an application of stages. Its tasks are also all in `map`. Null for a
  // MapReduce job.
  std::shared_ptr<const StageRuns> stages;
  double slot_idle = 0;   // seconds between two tasks in a slot, from the newest run
  double deviation = 0;   // deviation of ln(f), where f is a factor on all tasks
  bool is_known = false;  // whether the estimate is backed by a run or a profile
};

// Returns the estimate. `runs` is ordered newest first; the job's own profile, if any, comes first.
// `data_factor` multiplies the number of map tasks, whose times stay the same, and the data of each
// reduce task, even if the bytes are unknown. If there are neither runs nor a profile, the result
// has only the numbers of tasks that the job declares. O(runs).
JobEstimate EstimateJobTasks(const PlannedJob& job, std::span<const JobProfile> runs,
                             const Cluster& cluster, double data_factor);

// A task's use of the node, and the task's time alone on a node relative to its measured time.
struct StageDemand {
  placement::TaskDemand parts;
  double alone = 1;
};

// Returns the average task of a stage of a past run.
durations::MeasuredTask MeasuredTaskOf(const PastStage& stage);

// Returns the demand of a task that was measured among `tasks` tasks on `slots` slots of the
// cluster. The demand is empty if the node or the processor time is unknown.
StageDemand DemandOf(const durations::MeasuredTask& measured, double tasks, double slots,
                     const Cluster& cluster);

// Returns the runs with `data_factor` times the data. Stages that read the input have more tasks,
// and later stages have longer tasks. `runs` may be null. O(stages + task times), or O(1) for a
// factor of 1.
std::shared_ptr<const StageRuns> WithData(std::shared_ptr<const StageRuns> runs,
                                          double data_factor);

// Returns a run of an application of stages as the profile of a job that has only map tasks.
// O(stages + times).
JobProfile AsOnePhase(const PastRun& run);

// Returns the mean task time of a stage of a past run in seconds, or 0 if it has no times.
double MeanTaskSeconds(const PastStage& stage);

// Returns the duration of the job alone on `slots`, in seconds, ignoring its deviation; 0 if
// unknown.
double SecondsAlone(const JobEstimate& expected, double slots);

}  // namespace tidemark::dag
