// Recognises past runs of another program under the name of this one, by the shape of their stages.
//
// Every stage that this run has opened is compared with its counterpart (match_stages.h) in the
// past run. The past run is refuted by the first contradiction, or, once two or more stages have
// confirmed it, by two contradictions in a row: an optimiser may plan one stage differently in
// each run. A stage contradicts the past run if
//   - the past run has no stage of its name or its work,
//   - it reads the output of other stages, or of none,
//   - it has other numbers of tasks (cost/task_counts.h), or
//   - its tasks read several times as much or as little.
// A stage that repeats the work of another one decides nothing. Sizes decide nothing if the
// programs were started with other parameters.
#pragma once

#include <span>

#include "master/forecast/dag/workflow_state.h"

namespace tidemark::workflow {

// Returns false if the stages of `now` refute `run`. `now`: without expected stages. `has_sizes`:
// whether numbers of tasks and bytes are compared. Cost: O(stages log stages + edges).
bool HasShapeOf(const RunProfile& run, std::span<const StageNow> now, bool has_sizes);

}  // namespace tidemark::workflow
