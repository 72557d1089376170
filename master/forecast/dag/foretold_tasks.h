// What stages of a work show of each other, where what they take was foretold from runs with other
// parameters (foretold_runs.h): all of them are wrong together.
//
// Of a work, the log of a factor on the times that were foretold is taken to be normal around 0,
// with the deviation that StageNow::foretold_deviation says. A stage with tasks that have finished
// shows it but for what runs of one stage differ by, which is ExpectedTasks::deviation, and for the
// few tasks that it may be. Stages count by their precision. Pure.
#pragma once

#include <vector>

#include "master/forecast/dag/expected_tasks.h"
#include "master/forecast/dag/workflow_state.h"

namespace tidemark::workflow {

// `before`: of each of `stages`, what earlier runs let expect. Of those whose work was foretold the
// times are corrected by what the other stages of the work have shown. What remains unsure is added
// to the deviation of stages that have begun, which tell about themselves, and is shared by the
// others. O(stages log stages + tasks).
void CorrectForetold(const std::vector<StageNow>& stages, const ExpectationConstants& constants,
                     std::vector<ExpectedTasks>& before);

}  // namespace tidemark::workflow
