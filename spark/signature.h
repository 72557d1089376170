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
// Spark lists these in another order in every run. The name of a stage of SQL is left out: it is
// the line that submitted the query, for which Spark takes another thread's where several submit.
std::uint64_t WorkOfStage(const nlohmann::json& info, bool is_of_sql);

// The same for stages of one application that do the same to other data: in SQL, where stages of
// other plans have the same steps, those of plans with the same operators.
std::uint64_t RepeatedWork(std::string_view plan, std::uint64_t work);

// Of the `occurrence`-th stage, from 1, that does `work` for the SQL execution or job that `group`
// describes.
std::string SignatureOf(std::string_view group, std::uint64_t work, std::uint32_t occurrence);

}  // namespace tidemark::spark
