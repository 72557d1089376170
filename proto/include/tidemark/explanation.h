// The explanation of a slow job. It consists of the resources and hosts for which its queries
// waited, and of the other queries that caused the waits.
//
// A query is a unit within a job for which users wait: an SQL execution, or a Spark job that
// belongs to no SQL execution. A job without named queries consists of one query with an empty
// name. Values in seconds are delays of the end of the query. They are sums over consecutive
// stages, never over concurrent stages. An unset value is unknown, which differs from zero.
//
// Plain values, safe to share between threads when const. docs/internals/waits.md defines the
// values and their limits. Source: docs/internals/references.md [PX].
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/event.h"
#include "tidemark/wait_reason.h"

namespace tidemark {

// A query that used a resource while another query waited for it.
struct ContendingQuery {
  // Empty for a job that the caller may not read or that is no longer tracked.
  std::string job_id;
  // Query of that job. Empty if the job does not name its queries or is hidden.
  std::string query;
  // Number of jobs behind an empty job_id. 0 if no task reported the use of the resource. The
  // resource was then used by processes outside jobs, or by other threads of a task's process.
  std::uint32_t jobs = 1;
  WaitReason resource = WaitReason::kSlots;
  // Host of the resource. Empty for slots. They belong to no single host.
  std::string host;
  // Delay that this query caused to the end of the waiting query, in seconds.
  double seconds = 0;
  // Bounds of `seconds`. The lower bound assumes that other queries would have used the freed
  // resource. The upper bound is at most the total wait, and at most the time during which both
  // queries ran. Unset if unknown.
  std::optional<double> seconds_lower;
  std::optional<double> seconds_upper;
  // Time by which the explained job would end sooner if this query stopped now, over all resources
  // and hosts, as a median with a 90 % interval. For an ended job, the time by which it would have
  // ended sooner without this query, with the same kind of bounds as `seconds`. Set only for the
  // three worst queries, and never for queries of the explained job. While the job runs, unset if
  // the job has no forecast or if the query runs no task.
  std::optional<double> sooner_seconds;
  std::optional<double> sooner_seconds_lower;
  std::optional<double> sooner_seconds_upper;
  friend bool operator==(const ContendingQuery&, const ContendingQuery&) = default;
};

// The wait of one query for one resource.
struct QueryWait {
  // Sum over the stages of the query. Unset if no task reported the wait.
  std::optional<double> seconds;
  // True if some tasks did not report the wait, so that `seconds` is a lower bound.
  bool is_least = false;
  friend bool operator==(const QueryWait&, const QueryWait&) = default;
};

// Additional time of tasks because they read more than in past runs of their job, if their time
// grows with their input.
//
// Includes only stages that read markedly more than before. The excess must be larger than the
// differences between past runs.
struct DataGrowth {
  // Sum over tasks, unlike all other seconds in this header.
  double task_seconds = 0;
  // Bounds according to the largest and the smallest past input. Unset if a stage has only one past
  // run.
  std::optional<double> task_seconds_lower;
  std::optional<double> task_seconds_upper;
  // Bytes that the ended tasks of these stages read, and the median of these bytes over past runs.
  double read_bytes = 0;
  double earlier_read_bytes = 0;
  // Time of all ended tasks of the query, without their waits for processors and memory. Includes
  // task_seconds. 0 if unknown.
  double all_task_seconds = 0;
  friend bool operator==(const DataGrowth&, const DataGrowth&) = default;
};

// The longest successful attempt, and its longest key group.
//
// Times span from start to end and include waits.
struct LongestTask {
  AttemptId attempt;
  // Kind of the task's stage. kUnknown if not reported.
  StageKind kind = StageKind::kUnknown;
  // Empty if unknown.
  std::string host;
  double seconds = 0;
  // Mean over the tasks of the stage, including this task.
  double mean_seconds = 0;
  // Size and duration of the longest key group of the task, among the groups that were timed
  // individually. 0 if there is no such group.
  std::uint64_t group_bytes = 0;
  double group_seconds = 0;
  friend bool operator==(const LongestTask&, const LongestTask&) = default;
};

// The waits of one query, and the queries that caused them.
struct QueryWaits {
  // Empty if the job does not name its queries.
  std::string query;
  // From the start of the query until its end, or until now.
  std::optional<double> seconds;
  // The wait for slots includes only times at which other jobs held slots and no slot was free.
  // Other waits count regardless of their cause.
  PerWaitReason<QueryWait> waits;
  // Delay by skew: the time by which the longest task of a stage exceeded the mean task, without
  // waits. Unset if no stage with several tasks has ended.
  std::optional<double> skew_seconds;
  // The longest task among consecutive stages. Unset if no task has ended or if waits explain most
  // of the task's length.
  std::optional<LongestTask> longest_task;
  // Delay that the growth of the query's own data caused. Unset if no growth is known.
  std::optional<DataGrowth> data_growth;
  // Sorted by delay, the largest first.
  std::vector<ContendingQuery> culprits;
  friend bool operator==(const QueryWaits&, const QueryWaits&) = default;
};

// The answer to an ExplainQuestion, with one entry for each query.
struct Explanation {
  // The explained job and its run.
  std::string job_id;
  std::string run_uid;
  // End of the explained time range, by the master's clock.
  absl::Time at;
  // Start of the observation, by the master's clock.
  absl::Time since;
  // True if the job was running before `since`, or if the master lacked memory for all its waits.
  bool is_partial = false;
  // Sorted by the start of the queries.
  std::vector<QueryWaits> queries;
  // Number of older queries that were omitted.
  std::uint32_t queries_left_out = 0;
  // True if the job has ended, so `sooner_seconds` refers to the past.
  bool has_ended = false;
  // True if the job ended after `at`. Its last waits are added when tasks of other jobs have
  // reported.
  bool more_to_come = false;
  // All hosts on which tasks of these queries ran, sorted by name. Filled only if the question
  // names a host and a host is known. If the question sets `last`, only the hosts in that time
  // range.
  std::vector<std::string> hosts;
  friend bool operator==(const Explanation&, const Explanation&) = default;
};

// The question that an Explanation answers. Empty fields do not restrict the answer.
struct ExplainQuestion {
  // If set, only the query of the job with this name, such as sql/3.
  std::string query;
  // If set, only waits for this resource.
  std::optional<WaitReason> resource;
  // If set, only waits on this host. Waits for slots have no host and are excluded.
  std::string host;
  // Maximum number of contending queries for each query.
  std::size_t culprits_max = 3;
  // Maximum number of queries. The newest queries are kept.
  std::size_t queries_max = 200;
  // If set, only waits within this most recent time, in whole minutes.
  std::optional<absl::Duration> last;
  // If set, only contending queries of this job, or the single query JOB/QUERY. For a query of the
  // explained job itself, the job may be omitted.
  std::string because_of;
  friend bool operator==(const ExplainQuestion&, const ExplainQuestion&) = default;
};

}  // namespace tidemark
