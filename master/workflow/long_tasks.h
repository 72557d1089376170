// Which tasks of a stage take far longer than its others: a partition that was hot in earlier runs
// is known by the index of its task, before that task begins and whatever the small ones, which end
// first, have taken.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "master/cost/fixed_draws.h"
#include "master/workflow/expected_tasks.h"
#include "master/workflow/task_factors.h"
#include "master/workflow/workflow_state.h"

namespace tidemark::workflow {

// Of the tasks that have ended, by index. Cost: O(tasks log tasks).
std::vector<LongTask> LongTasksOf(const StageNow& stage);

// Those times of one kind of task that are not long. Empty only if `seconds` is. O(times log
// times).
std::vector<double> UsualTimes(std::span<const double> seconds);

// From those runs that had `tasks` tasks: the geometric mean over these; by index. `runs`: the
// newest first. Empty where the newest had another number of tasks.
std::vector<LongTask> ExpectLongTasks(std::span<const EarlierStage> runs, std::uint64_t tasks);

// Of one task; 1 for those that are not long. `long_tasks`: by index. O(log long tasks).
double OverUsual(std::span<const LongTask> long_tasks, std::uint32_t index);

// Empty where none that is left is long. Cost: O(tasks log tasks + draws x tasks that
// are told apart).
TaskFactors FactorsOfLongTasks(const StageNow& stage, std::span<const LongTask> long_tasks,
                               const cost::FixedDraws& draws);

}  // namespace tidemark::workflow
