// Which SQL plans are the same.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace tidemark::spark {

// Of the tree of operators that SparkListenerSQLExecutionStart tells (sparkPlanInfo): 64-bit FNV-1a
// of NAME(CHILD,CHILD,...) in UTF-8, without the parentheses where there are no children. Equal for
// the same query in Spark 3.5 and 4.0, over other data and at other sizes; not with adaptive
// execution on and off. 0: no plan.
std::uint64_t PlanHash(const nlohmann::json& plan);

}  // namespace tidemark::spark
