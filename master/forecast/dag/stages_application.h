// A DAG of stages, before it starts and while it runs, as an application.
//
// Every stage gets a factor on its tasks' times, every task a time of its kind; stages that earlier
// runs had and that are not there yet are expected to come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "master/forecast/dag/application_estimate.h"
#include "master/forecast/dag/expected_tasks.h"
#include "master/forecast/dag/growth.h"
#include "master/forecast/dag/workflow_state.h"

namespace tidemark::workflow {

struct StagesOptions {
  ExpectationConstants expected;
  // Of the log of a factor on the whole of what is left.
  double common_deviation = kCommonDeviation;
  // The reduce stage as its key groups have it; null: nothing is known of them. Its tasks are in
  // the order of their indexes, those that run first. It counts where as many run and wait.
  const cost::StageLeft* by_key_groups = nullptr;
};

// A stage that its engine has planned and not opened yet.
struct PlannedStage {
  std::uint32_t number = 0;  // the same until it is opened, from kExpectedStages on
  std::string group;
  std::uint64_t tasks = 0;
  std::vector<std::size_t> parents;  // indexes of `stages`, which the planned ones follow
  std::size_t owner = 0;
};

struct WorkflowNow {
  std::vector<StageNow> stages;
  std::vector<PlannedStage> planned;
  double elapsed = 0;          // since it began
  std::size_t warm_slots = 0;  // idle containers that have run a task
  Submissions submissions;
  bool may_grow = false;        // stages have appeared since it began, so that without earlier runs
                                // others may that are not known yet
  double slots = 0;             // tasks that can run at once; 0 if that is unknown
  bool are_slots_told = false;  // by executors or stages; else `slots` is what was seen
  double slots_per_executor = 0;  // 0 if no executor reported slots
  double used_share = 1;          // the part of the reported slots that can be in use
  std::uint64_t executors = 0;    // without the closed ones
  std::uint64_t gone_executors = 0;
  std::uint64_t idle_tasks = 0;  // tasks that wait for nothing but a slot while no task runs
  // Numbers of the stages of the job that wait for each other in a cycle; the first is repeated at
  // the end.
  std::vector<std::uint32_t> cycle;
};

// Adds the stages of the most recent run that have no counterpart (match_stages.h), in their order,
// except stages whose readers have begun without them. Without past runs, adds the planned stages.
// A stage whose task count is unknown gets that of its newest counterpart. `history`: past runs of
// the same workflow, the most recent first. Cost: O(stages of history + edges).
void ExpectStages(std::span<const RunProfile* const> history, WorkflowNow& now);

// What is left of the stages of `now`, as ExpectStages() leaves them with the same history, with
// `slots` to run on. `first_stream`: of what it draws, so that two applications draw apart.
// Cost: O(tasks of history + draws x (stages + running tasks)).
std::vector<cost::StageLeft> LeftOfStages(const WorkflowNow& now,
                                          std::span<const RunProfile* const> history, double slots,
                                          const ExpectationConstants& constants,
                                          const cost::FixedDraws& draws,
                                          std::uint64_t first_stream = 0);

// Its stages are those of `now`, as ExpectStages() leaves them with the same history.
// Cost: O(tasks of history + draws x (stages + running tasks)).
estimate::Application ApplicationOfStages(const WorkflowNow& now,
                                          std::span<const RunProfile* const> history,
                                          const schedule::Resourcing& on,
                                          const StagesOptions& options);

}  // namespace tidemark::workflow
