// Facts that the connector for Spark (agent/spark) derives in the same way from the same inputs. A
// stage, a plan or a failure is therefore the same in a log and from a live application.
//
// Each function has a counterpart in Java: FailureCause, PlannedStages, Signature. The vectors in
// tests/vectors check that both sides give the same results. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::spark {

// Returns the part of `failure` that names the error: the last line of its last Python traceback
// ("ValueError: bad"). Without a traceback, returns the cause of the most recent task failure,
// without its location and stack. Otherwise returns `failure`. O(length).
std::string FailureCause(std::string_view failure);

// Returns true if adaptive execution cancelled the job that failed for `failure`: its query no
// longer needs the job, and continues. Spark then gives no reason after "Job 7 cancelled", or
// names the stage of the query. For any other cancellation Spark names the reason. O(length).
bool IsCancelledByItsQuery(std::string_view failure);

// Largest number of stages that PlannedTaskCounts() returns. Larger plans have no result.
inline constexpr std::size_t kPlannedStagesMax = 1'000;

// Returns the number of tasks of each stage of a plan (sparkPlanInfo), inputs before readers; 0 if
// the number depends on the size of an input. Returns an empty list unless the plan is adaptive.
//
// Adaptive execution runs one job for each exchange of the plan and then one for the result. No
// event names a stage before its job starts. A sort across partitions runs its input twice, first
// for a sample. The jobs of other plans announce all their stages.
std::vector<std::uint32_t> PlannedTaskCounts(const nlohmann::json& plan);

// Returns a name for the operator tree of a SQL execution (sparkPlanInfo). Only the names of the
// operators count.
std::string NameOfPlan(const nlohmann::json& plan);

// Returns a hash of the work of a stage ("Stage Info"): its name, and the names and scopes of its
// RDDs. Their order does not matter, since Spark lists them in another order in every run. A stage
// of SQL counts without its name, which is a line of the thread that happened to submit the query.
std::uint64_t WorkOfStage(const nlohmann::json& info, bool is_of_sql);

// Returns a hash that is equal for stages of one application that do the same to other data. Stages
// of different SQL plans have the same steps, so `plan` counts; it is empty outside of SQL.
std::uint64_t RepeatedWork(std::string_view plan, std::uint64_t work);

// Returns the text by which a stage is recognised in another run of its application: the
// `occurrence`-th stage, from 1, that does `work` for the SQL execution or job `group`.
std::string SignatureOf(std::string_view group, std::uint64_t work, std::uint32_t occurrence);

}  // namespace tidemark::spark
