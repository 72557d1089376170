// The stages of a plan with some of them repeated more or less often
// (master/forecast/durations/repeated_stages.h). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tidemark/plan.h"

namespace tidemark::cli {

// `works`: what each stage does, of `stages`, which are in the order in which they ran. `counts`:
// how often stages of each work are to be there. One that is added is called as the last of its
// work, with (+1), (+2) and so on behind it.
std::vector<PlannedStage> Repeated(std::vector<PlannedStage> stages,
                                   const std::vector<std::uint64_t>& works,
                                   const std::map<std::uint64_t, std::uint32_t>& counts);

}  // namespace tidemark::cli
