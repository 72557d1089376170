// Estimates the task times of one stage from past runs and from the tasks of this run.
//
// Past runs had other numbers of slots. Crowding makes the mean time of a kind of task (fresh,
// first, rest, last) grow like 1 + slots / N. The times of short tasks, which wait for the driver,
// grow sooner than the times of long ones. Crowding is a prior from other jobs, so it counts only
// up to the number of slots for which it was measured. A line through the stage's own runs adds
// their further growth. A prior pulls its slope to zero, because lines through two runs explode
// when extrapolated. Runs with similar slots and data count more. Runs of the same work differ
// despite all evidence, and stages that fetch from others differ more, in particular their fetch
// waits; all are in the deviation.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "master/forecast/dag/workflow_state.h"
#include "master/forecast/durations/combined_estimates.h"
#include "master/forecast/durations/task_times.h"

namespace tidemark::dag {

// Constants without another source were chosen on one half of the benchmark's workflows;
// bench/RESULTS.md reports the other half.
struct EstimateConstants {
  // N = crowd x seconds^power, by Warmth. With N slots, a task takes twice as long as alone.
  std::array<double, kWarmths> crowd = {120, 120, 200, 200};
  std::array<double, kWarmths> crowd_power = {0.5, 0.5, 0.7, 0.7};
  // Largest number of slots in the measurement of crowding (TPC-H on 2 to 100 executors).
  double crowd_slots_max = 100;
  // True if tasks of a stage run slower the more slots are idle, as they do on the executors of
  // TPC-H. In stages of one to three tasks, tasks take 1.5 times as long with 100 slots as with 20.
  // False for times that do not come from runs of the engine. More slots then never make a stage
  // slower, unless its own runs show it.
  bool idle_slots_crowd = true;
  // Deviation of the exponent of slots in addition to crowding, for stages without parents and for
  // stages with parents. With 0.2 for both, the error of tpch at other numbers of executors is 11.2
  // instead of 10.0; with 0.1 for both, it is 10.2.
  double root_exponent_deviation = 0.1;
  // Ablation: -0.22, +0.39 (tpcds-live-five-runs).
  double exponent_deviation = 0.2;
  // Deviation of ln(mean task time) of a stage between runs with the same slots, for stages without
  // parents and for stages with parents. With 0.1, the error of tpcds-one-run is 8.5 instead of
  // 8.7, and the error of tpch-own-profile is 1.9 instead of 1.6.
  double root_run_deviation = 0.06;
  // Ablation: +1.62, -0.94 (tpcds-five-runs).
  double run_deviation = 0.2;
  // Deviation of ln(mean time of the finished tasks) around the mean of all tasks, since early
  // waves differ from late waves. Ablation: -0.09, +0.13 (tpcds-live-five-runs).
  double drift_deviation = 0.15;
  // Mean time of each kind of task relative to kRest, for kinds without tasks.
  std::array<double, kWarmths> over_rest = {2.0, 1.3, 1.0, 0.9};
};

// Deviation of the logarithm of a factor on all remaining work. On TPC-DS, runs of one query at one
// size differ by 3 to 7 %, and by up to 17 % in a tenth of the cases.
// Ablation: coverage -0.5, +2.3.
inline constexpr double kCommonDeviation = 0.05;
// Lower bound of task times, in seconds. Guards logarithms and divisions.
inline constexpr double kTaskSecondsMin = 1e-3;

// Returns the mean, at least kTaskSecondsMin. REQUIRES: !seconds.empty().
double MeanSeconds(std::span<const double> seconds);

struct TaskEstimate {
  std::array<durations::TimeDistribution, kWarmths> times;
  double deviation = 0;  // deviation of ln(f), where f is a factor on all tasks of the stage
  // Deviation of a factor that all stages with the same `shared_by` share.
  double shared_deviation = 0;
  std::uint64_t shared_by = 0;
  bool is_known = false;    // true if backed by a past run or a finished task
  bool is_of_runs = false;  // true if backed by past runs, which had tasks of all sizes
  bool is_of_pace = false;  // true if backed only by the pace of running tasks
  // Tasks that take longer than `times`, by index (task_factors.h).
  std::vector<LongTask> long_tasks;
  const durations::TimeDistribution& Of(Warmth warmth) const {
    return times[static_cast<std::size_t>(warmth)];
  }
};

// Returns the mean number of tasks that run at once on `slots`, over the waves of the stage. Slots
// that the stage leaves idle do not count.
double TasksAtOnce(std::uint64_t tasks, double slots);

struct PastStageRun {
  double slots = 1;
  const PastStage* stage = nullptr;
  double size_distance = 0;  // |ln(bytes of this run / bytes of that run)|; 0 if unknown
};

// Estimates a stage of `tasks` tasks before any of them has reported. `runs` is ordered newest
// first. If it is empty, the result is empty and unknown. O(tasks log tasks).
TaskEstimate EstimateTasks(std::span<const PastStageRun> runs, std::uint64_t tasks, double slots,
                           const EstimateConstants& constants);

// Returns true if a running task has read enough of its input to show its pace.
bool ShowsItsPace(const RunningTask& task);

// Returns the read share (ReadShare) of the stage's finished tasks, which is needed for its running
// tasks. Returns the default if no running task has a pace. O(tasks).
durations::ReadShare ReadShareOf(const StageNow& stage);

// Returns the total time of a running task according to its pace. REQUIRES: ShowsItsPace(task).
durations::PacedTotal PacedTotalOf(const RunningTask& task, const durations::ReadShare& share);

// Updates the estimate with the finished tasks of the stage and the reported parts of running
// tasks. A running task that has outlasted the mean counts with at least its elapsed time. `before`
// moves towards the observed times in proportion to the evidence. An unknown `before` is replaced.
TaskEstimate EstimateTasksNow(TaskEstimate before, const StageNow& stage,
                              const EstimateConstants& constants);

// Updates `prior` like EstimateTasksNow(), but an unknown `prior` is also updated and stays
// unknown. REQUIRES: it has times.
TaskEstimate WithEvidence(TaskEstimate prior, const StageNow& stage,
                          const EstimateConstants& constants);

// Corrects the estimates of stages whose past runs were adjusted to other parameters
// (adjusted_runs.h). The errors of all stages of one kind of work are correlated.
//
// For each kind of work, the logarithm of the factor on the adjusted times is normal around 0, with
// the deviation StageNow::adjusted_deviation. A stage with finished tasks observes this factor. The
// error of the observation depends on the scatter between runs of one stage
// (TaskEstimate::deviation) and on the number of finished tasks. Stages are weighted by precision.
// Pure.

// Corrects the times in `before`, the estimates of `stages` from past runs, using finished tasks of
// other stages of the same work. The remaining uncertainty is added to the deviation of started
// stages, which have individual evidence; other stages share it. O(stages log stages + tasks).
void CorrectAdjusted(const std::vector<StageNow>& stages, const EstimateConstants& constants,
                     std::vector<TaskEstimate>& before);

}  // namespace tidemark::dag
