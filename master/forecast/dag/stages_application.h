// Describes a DAG of stages as an application. The stages are opened, planned or expected, and the
// application may have future work that its engine has not announced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "master/forecast/dag/application_forecast.h"
#include "master/forecast/dag/task_estimate.h"
#include "master/forecast/dag/workflow_state.h"
#include "master/forecast/durations/draws.h"
#include "master/forecast/durations/task_times.h"

namespace tidemark::dag {

// Future work of an application that its engine has not announced.
//
// A driver submits one job after another, and the number of future jobs is unknown. The evidence is
// the application's past. An application that has repeated several jobs is likely to continue. An
// application that submits something new after many repetitions is likely near its end. An
// application that has spent most of its time without work has not reached its main work yet. The
// future work scales with the elapsed time, since a time without a known scale exceeds t with
// probability elapsed / (elapsed + t). The probability falls with the square of that fraction
// beyond its median. With the fraction itself, 99.7 % of the 90 % intervals of 47 logs contained
// the end, and the upper bound at half of the run was ten times the lower one.

// Returns the probability of another job, 0..1. `worked_share`: the part of the elapsed time during
// which a stage was in progress.
double ChanceOfMore(const Submissions& submissions, double worked_share);

// Returns the seconds of work in jobs that have not been submitted, by draw. `elapsed`: seconds
// since the application started, of which a stage was in progress for `worked`.
durations::Draws GrowthOf(const Submissions& submissions, double elapsed, double worked,
                          const durations::FixedDraws& draws);

// Options of an application of stages. Every stage has a factor on its task times, and every task
// has a time of its kind. Stages of past runs that this run has not opened yet are expected.
struct StagesOptions {
  EstimateConstants expected;
  // Deviation of the logarithm of a factor on all remaining work.
  double common_deviation = kCommonDeviation;
  // The estimate of the reduce stage from its key groups; null if unknown. Its tasks are ordered by
  // index, running tasks first. The estimate applies if it has as many running and pending tasks as
  // the stage.
  const durations::RemainingStage* by_key_groups = nullptr;
};

// Adds the stages of the newest past run that have no counterpart (MatchStages()), in order.
// Excludes stages whose readers have started without them. If there are no past runs, adds the
// planned stages. A stage with an unknown number of tasks gets the number of its newest
// counterpart. `history` contains past runs of the same workflow, newest first. O(stages of history
// + edges).
void AddExpectedStages(std::span<const PastRun* const> history, WorkflowNow& now);

// Returns the remaining stages of `now` on `slots` slots. REQUIRES: AddExpectedStages() was called
// with the same history. `first_stream` is the number of the first random stream, so that two
// applications have different draws. O(tasks of history + draws x (stages + running tasks)).
std::vector<durations::RemainingStage> LeftOfStages(const WorkflowNow& now,
                                                    std::span<const PastRun* const> history,
                                                    double slots,
                                                    const EstimateConstants& constants,
                                                    const durations::FixedDraws& draws,
                                                    std::uint64_t first_stream = 0);

// Returns the remaining stages of `now` as an application. REQUIRES: AddExpectedStages() was called
// with the same history. O(tasks of history + draws x (stages + running tasks)).
Application ApplicationOfStages(const WorkflowNow& now, std::span<const PastRun* const> history,
                                const placement::Resourcing& on, const StagesOptions& options);

}  // namespace tidemark::dag
