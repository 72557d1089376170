// Which stage of an earlier run is which of this one: ids differ from run to run.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "master/workflow/workflow_state.h"

namespace tidemark::workflow {

// For each stage of `now` its counterpart in `profile`: the same name, then the same number of
// tasks, then the nearest place; each at most once. Cost: O(stages log stages).
std::vector<std::optional<std::size_t>> MatchStages(std::span<const StageNow> now,
                                                    const RunProfile& profile);

}  // namespace tidemark::workflow
