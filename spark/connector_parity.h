// Derives facts from Spark events exactly like the Spark connector (agent/spark), so that a stage,
// plan or failure has the same identity in a log and in a live application.
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
// ("ValueError: bad"), or else the cause of the most recent task failure without its location and
// stack trace, or else `failure` itself. O(length).
std::string FailureCause(std::string_view failure);

// Returns true if the job with this `failure` was cancelled by adaptive execution because its
// query, which continues, no longer needs the job. For such a job, Spark gives no reason after "Job
// 7 cancelled", or names the stage of the query. For any other cancellation, Spark names the
// reason. O(length).
bool IsCancelledByItsQuery(std::string_view failure);

// Maximum number of stages that PlannedTaskCounts() returns. Larger plans have no result.
inline constexpr std::size_t kPlannedStagesMax = 1'000;

// Returns the number of tasks of each stage of a plan (sparkPlanInfo), inputs before readers. The
// number is 0 if it depends on the size of an input. Returns an empty list for a plan that is not
// adaptive and has no exchange, since its only job announces all its stages.
//
// Adaptive execution runs one job per exchange of the plan, then one job for the result. No event
// names a stage before its job starts. A sort across partitions runs its input twice, the first
// time to sample it. Plans that are not adaptive run one job per broadcast, then one job for all
// other stages.
std::vector<std::uint32_t> PlannedTaskCounts(const nlohmann::json& plan);

// Returns a name for the operator tree of a SQL execution (sparkPlanInfo). The name depends only on
// the operators' names.
std::string NameOfPlan(const nlohmann::json& plan);

// Returns a hash of a stage's work ("Stage Info"): its name, and the names and scopes of its RDDs.
// The hash ignores the order of the RDDs, which differs between runs. For a SQL stage, it also
// ignores the name, which is the source line of the thread that happened to submit the query.
std::uint64_t WorkOfStage(const nlohmann::json& info, bool is_of_sql);

// Returns a hash that is equal for stages of one application that do the same work on different
// data. The hash includes `plan`, since stages of different SQL plans have the same steps. `plan`
// is empty outside SQL.
std::uint64_t RepeatedWork(std::string_view plan, std::uint64_t work);

// Returns the string that identifies a stage in other runs of its application. The stage is the
// `occurrence`-th stage, from 1, that does `work` for the SQL execution or job `group`.
std::string SignatureOf(std::string_view group, std::uint64_t work, std::uint32_t occurrence);

}  // namespace tidemark::spark
