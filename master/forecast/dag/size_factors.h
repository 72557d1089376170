// What the sizes of a stage's tasks say of those that are left, where they differ from those that
// have ended.
//
// The mean of the tasks that have ended and the curve of their times by size
// (master/forecast/durations/task_sizes.h) are two opinions on the tasks that are left. Of a task
// like those that have ended they agree. Of another one the mean is off by as much as the times may
// grow with the sizes, the curve by as much as its draws lie apart; the two count by their
// precision.
#pragma once

#include "master/forecast/dag/expected_tasks.h"
#include "master/forecast/dag/task_factors.h"
#include "master/forecast/dag/workflow_state.h"
#include "master/forecast/durations/fixed_draws.h"

namespace tidemark::workflow {

// Factors on the times that are expected by the mean. Empty where no sizes are known, where those
// that are left are as usual, and where earlier runs say what the tasks take. Cost: O(tasks), and
// that of cost::LogRatiosBySize() where they are not.
TaskFactors FactorsBySize(const StageNow& stage, const ExpectedTasks& expected,
                          const cost::FixedDraws& draws);

}  // namespace tidemark::workflow
