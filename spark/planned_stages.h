// How many stages a SQL execution will have had when it is over, by its plan.
//
// Adaptive execution runs a job for each exchange of the plan and another for the result, one after
// the other, and its events name no stage before its job begins. The connector for Spark computes
// the same (agent/spark, PlannedStages).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace tidemark::spark {

// At most so many; of a larger plan nothing is said.
inline constexpr std::size_t kPlannedStagesMax = 1'000;

// Of a plan (sparkPlanInfo), the number of tasks of each of its stages, each after those whose
// output it reads; 0: not known before that output is there. A sort across partitions runs its
// input twice, the first time for a sample. Empty: the plan is not an adaptive one, whose jobs
// announce all their stages.
std::vector<std::uint32_t> PlannedTaskCounts(const nlohmann::json& plan);

}  // namespace tidemark::spark
