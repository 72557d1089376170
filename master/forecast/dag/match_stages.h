// Which stage of an earlier run is which of this one: ids differ from run to run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "master/forecast/dag/workflow_state.h"

namespace tidemark::workflow {

// What a stage does: its work, or its name where that is not known.
std::string WorkKey(std::uint64_t work, const std::string& name);

// For each stage of `now` its counterpart in `profile`: the same name, then the same number of
// tasks, then the nearest place; each at most once. A stage of the profile whose name is not known
// (foretold_runs.h) is that of one of the same work that has no other counterpart. Cost: O(stages
// log stages).
std::vector<std::optional<std::size_t>> MatchStages(std::span<const StageNow> now,
                                                    const RunProfile& profile);

}  // namespace tidemark::workflow
