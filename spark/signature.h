// By what a stage is recognised in another run of its application. The connector for Spark computes
// the same from the same facts; docs/spark-logs.md says how.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace tidemark::spark {

// Of the tree of operators of a SQL execution (sparkPlanInfo), by their names alone.
std::string NameOfPlan(const nlohmann::json& plan);

// Of what a stage does ("Stage Info"): its name, and names and scopes of its RDDs in any order.
// Spark lists these in another order in every run.
std::uint64_t WorkOfStage(const nlohmann::json& info);

// Of the `occurrence`-th stage, from 1, that does `work` for the SQL execution or job that `group`
// describes.
std::string SignatureOf(std::string_view group, std::uint64_t work, std::uint32_t occurrence);

}  // namespace tidemark::spark
