// Describes a DAG of stages as an application. It has opened, planned and expected stages, and
// future work that its engine has not announced.
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
// application that submits something new after many repetitions is likely near its end. The future
// work scales with the elapsed time, since a time without a known scale exceeds t with probability
// elapsed / (elapsed + t).

// Returns the probability of another job, 0..1.
double ChanceOfMore(const Submissions& submissions);

// Returns the seconds of work in jobs that have not been submitted, by draw. `elapsed`: seconds
// since the application started.
durations::Draws GrowthOf(const Submissions& submissions, double elapsed,
                          const durations::FixedDraws& draws);

// Options of an application of stages. Every stage has a factor on its task times, and every task
// has a time of its kind. Stages of past runs that this run has not opened yet are expected to
// come.
struct StagesOptions {
  EstimateConstants expected;
  // Deviation of the logarithm of a factor on all remaining work.
  double common_deviation = kCommonDeviation;
  // The estimate of the reduce stage from its key groups; null if unknown. Its tasks are in the
  // order of their indexes, the running ones first. It applies if it has as many running and
  // pending tasks as the stage.
  const durations::RemainingStage* by_key_groups = nullptr;
};

// Adds the stages of the newest past run that have no counterpart (MatchStages()), in their order,
// except stages whose readers have started without them. If there are no past runs, adds the
// planned stages. A stage with an unknown number of tasks gets the number of its newest
// counterpart. `history`: past runs of the same workflow, the newest first. Cost: O(stages of
// history + edges).
void AddExpectedStages(std::span<const PastRun* const> history, WorkflowNow& now);

// Returns the remaining stages of `now` on `slots` slots. REQUIRES: AddExpectedStages() was called
// with the same history. `first_stream`: number of the first random stream, so that two
// applications have different draws. Cost: O(tasks of history + draws x (stages + running tasks)).
std::vector<durations::RemainingStage> LeftOfStages(const WorkflowNow& now,
                                                    std::span<const PastRun* const> history,
                                                    double slots,
                                                    const EstimateConstants& constants,
                                                    const durations::FixedDraws& draws,
                                                    std::uint64_t first_stream = 0);

// Returns the remaining stages of `now` as an application. REQUIRES: AddExpectedStages() was called
// with the same history. Cost: O(tasks of history + draws x (stages + running tasks)).
Application ApplicationOfStages(const WorkflowNow& now, std::span<const PastRun* const> history,
                                const placement::Resourcing& on, const StagesOptions& options);

}  // namespace tidemark::dag
