// The stages of a program that repeats some of them more or less often than in the run that is
// known
// ([GB] 4.1: iterations are stages of PageRank, jobs of K-Means). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tidemark/plan.h"

namespace tidemark::cli {

// `works`: what each stage does, of `stages`, which are in the order in which they ran. `counts`:
// how often stages of each work are to be there; works that are not in it, or of which there is no
// stage, stay. Stages that are added do what the last of their work does and wait for the stages
// that follow those that it waits for; what waited for the last of a work waits for the new last
// one. At least one of each work remains; where there would be more than kRepeatedStagesMax
// stages, all stay as they are.
inline constexpr std::size_t kRepeatedStagesMax = 10'000;
std::vector<PlannedStage> Repeated(std::vector<PlannedStage> stages,
                                   const std::vector<std::uint64_t>& works,
                                   const std::map<std::uint64_t, std::uint32_t>& counts);

}  // namespace tidemark::cli
