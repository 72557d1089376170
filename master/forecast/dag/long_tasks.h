// Which tasks of a stage take far longer than its others: a partition that was hot in earlier runs
// is known by the index of its task, before that task begins and whatever the small ones, which end
// first, have taken.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "master/forecast/dag/expected_tasks.h"
#include "master/forecast/dag/task_factors.h"
#include "master/forecast/dag/workflow_state.h"
#include "master/forecast/durations/fixed_draws.h"

namespace tidemark::workflow {

// Of the tasks that have ended, by index; none where there are more than
// StageProfile::kLongTasksMax. Cost: O(tasks log tasks).
std::vector<LongTask> LongTasksOf(const StageNow& stage);

// Those times of one kind of task that are not long. Empty only if `seconds` is. O(times log
// times).
std::vector<double> UsualTimes(std::span<const double> seconds);

// Whether all long ones among its times are known by their index. O(times log times).
bool TellsLongTasks(const StageProfile& stage);

// Of one run that tells them; `scale`: what its tasks are expected to take now over what they took
// then.
struct LongTasksOfRun {
  std::span<const LongTask> long_tasks;
  double scale = 1;
};

// The mean over runs of as many tasks each; by index.
std::vector<LongTask> ExpectLongTasks(std::span<const LongTasksOfRun> runs);

// Of one task; 0 for those that are not long. `long_tasks`: by index. O(log long tasks).
double MoreSeconds(std::span<const LongTask> long_tasks, std::uint32_t index);

// Of running tasks over those of their kind, of waiting ones over kRest. Empty where none that is
// left is long. REQUIRES: `expected` has times. Cost: O(tasks log tasks + draws x tasks that are
// told apart).
TaskFactors FactorsOfLongTasks(const StageNow& stage, const ExpectedTasks& expected,
                               const cost::FixedDraws& draws);

}  // namespace tidemark::workflow
