// Predicts the task times of one stage from past runs and from the tasks of this run.
//
// Past runs had other numbers of slots. Crowding makes the mean time of a kind of task (fresh,
// first, rest, last) grow like 1 + slots / N: short tasks, which wait for the driver, grow sooner
// than long ones. Crowding is a prior from other jobs, so it counts only up to the number of slots
// for which it was measured. A line through the stage's own runs adds the growth that they show in
// addition. A prior pulls its slope to zero, because lines through two runs explode when
// extrapolated. Runs of the same work differ however much is known about it, and stages that fetch
// from others differ more; both go into the deviation.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "master/forecast/dag/workflow_state.h"
#include "master/forecast/durations/input_pace.h"
#include "master/forecast/durations/time_distribution.h"

namespace tidemark::workflow {

// Where a figure has no other source, it was chosen on one half of the workflows of the benchmark
// (see bench/RESULTS.md, which reports the other half).
struct ExpectationConstants {
  // N = crowd x seconds^power: at so many slots a task takes twice as long as alone. By Warmth.
  std::array<double, kWarmths> crowd = {120, 120, 200, 200};
  std::array<double, kWarmths> crowd_power = {0.5, 0.5, 0.7, 0.7};
  // Most slots for which crowding was measured (TPC-H on 2 to 100 executors).
  double crowd_slots_max = 100;
  // Whether slots that a stage leaves idle crowd its tasks. On the executors of TPC-H they do:
  // tasks of stages of one to three tasks take 1.5 times as long at 100 as at 20. Set to false for
  // times that come without the runs of their engine: then more slots never make a stage slower,
  // unless its own runs show that.
  bool idle_slots_crowd = true;
  // Of the exponent of slots that a stage has beyond crowding; stages without and with parents.
  // With 0.2 for both, tpch at other counts had an error of 11.2 instead of 10.0, with 0.1 for
  // both 10.2.
  double root_exponent_deviation = 0.1;
  // Ablation: -0.22, +0.39 (tpcds-live-five-runs).
  double exponent_deviation = 0.2;
  // Of the log of a stage's mean task time between runs at the same number of slots; stages without
  // and with parents.
  // With 0.1, tpcds-one-run had an error of 8.5 instead of 8.7, tpch-own-profile one of 1.9 instead
  // of 1.6.
  double root_run_deviation = 0.06;
  // Ablation: +1.62, -0.94 (tpcds-five-runs).
  double run_deviation = 0.2;
  // Of the log of the mean of the tasks seen so far around that of all tasks of the stage: early
  // waves differ from late ones.
  // Ablation: -0.09, +0.13 (tpcds-live-five-runs).
  double drift_deviation = 0.15;
  // Without any task of a kind: its mean over that of kRest.
  std::array<double, kWarmths> over_rest = {2.0, 1.3, 1.0, 0.9};
  // Of the log of a stage's mean task time when nothing is known of it, for the interval alone: in
  // the draws, where it would move the median, too, since the longest of several stages decides, it
  // is kUnknownDeviation. Taste.
  double unknown_interval_deviation = 2.0;
};

// Of the log of a factor common to all that a run has left: runs of one query at one size differ by
// 3 to 7 %, and up to 17 % in a tenth of the cases (measured on TPC-DS).
// Ablation: coverage -0.5, +2.3.
inline constexpr double kCommonDeviation = 0.05;
// Guards logarithms and divisions: no task is taken to be shorter. Seconds.
inline constexpr double kTaskSecondsMin = 1e-3;

// At least kTaskSecondsMin. REQUIRES: !seconds.empty().
double MeanSeconds(std::span<const double> seconds);

struct ExpectedTasks {
  std::array<cost::TimeDistribution, kWarmths> times;
  double deviation = 0;  // of the log of a factor common to all tasks of the stage
  // The same of a factor that it has in common with other stages: all that have its number.
  double shared_deviation = 0;
  std::uint64_t shared_by = 0;
  bool is_known = false;    // something backs it: a run, or a finished task
  bool is_of_runs = false;  // earlier runs back it, which had tasks of all sizes
  bool is_of_pace = false;  // only the pace of running tasks backs it
  // Those that take longer than `times` say, by index (master/forecast/dag/long_tasks.h).
  std::vector<LongTask> long_tasks;
  const cost::TimeDistribution& Of(Warmth warmth) const {
    return times[static_cast<std::size_t>(warmth)];
  }
};

// Returns how many of so many tasks run at once on so many slots, on average over the waves that
// these take: a stage that leaves slots idle is not crowded by them.
double TasksAtOnce(std::uint64_t tasks, double slots);

// One earlier run of a stage.
struct EarlierStage {
  double slots = 1;
  const StageProfile* stage = nullptr;
};

// Returns the expected tasks of a stage of `tasks` tasks before any of them has reported. `runs`:
// the newest first. Without runs, the result is empty and unknown. Cost: O(tasks log tasks).
ExpectedTasks ExpectTasks(std::span<const EarlierStage> runs, std::uint64_t tasks, double slots,
                          const ExpectationConstants& constants);

// Returns whether a running task has read enough of its input for a pace.
bool ShowsItsPace(const RunningTask& task);

// Returns the read share (input_pace.h) that the finished tasks of the stage imply for the running
// ones. Returns the default if no running task shows its pace. O(tasks).
cost::ReadShare ReadShareOf(const StageNow& stage);

// Returns the total time of a running task by its pace. REQUIRES: it shows its pace.
cost::PacedTotal PacedTotalOf(const RunningTask& task, const cost::ReadShare& share);

// With what the stage has shown: finished tasks, the part of running ones that is done where that
// is told, and others that have outrun their mean, which count as at least that long. `before`
// shrinks towards it in proportion to the evidence; an unknown one is replaced.
ExpectedTasks ExpectTasksNow(ExpectedTasks before, const StageNow& stage,
                             const ExpectationConstants& constants);

// The same of `prior`, which may be a mere guess and stays one. REQUIRES: it has times.
ExpectedTasks WithEvidence(ExpectedTasks prior, const StageNow& stage,
                           const ExpectationConstants& constants);

}  // namespace tidemark::workflow
