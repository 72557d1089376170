// The explanation of a slow job: the resources and hosts for which its queries waited, and the
// other queries that caused the waits.
//
// A query is a unit that people wait for within a job: a SQL execution, or a Spark job outside of
// any. A job without named queries is one query with an empty name. Seconds are the delay of the
// query's end. They add up stages that followed one another, never stages at the same time. An
// empty value is unknown, which is not zero.
//
// Plain values, safe to share between threads while none of them changes one.
// docs/internals/waits.md defines the values and their limits. Source: docs/internals/references.md
// [PX].
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
  // Empty for a job that the reader may not see or that is no longer tracked.
  std::string job_id;
  // Query of that job. Empty if the job names none or is hidden.
  std::string query;
  // Number of jobs behind an empty job_id. 0 for use that no task reported: processes outside of
  // jobs, or threads of a task's process beside the task.
  std::uint32_t jobs = 1;
  WaitReason resource = WaitReason::kSlots;
  // Host of the resource. Empty for slots, which belong to no single host.
  std::string host;
  // Delay of the waiting query's end that this query caused, in seconds.
  double seconds = 0;
  // Bounds of `seconds`. The lower bound assumes that other queries would have used the freed
  // resource. The upper bound is at most the total wait and the time that both ran. Empty if
  // unknown.
  std::optional<double> seconds_lower;
  std::optional<double> seconds_upper;
  // Time by which the explained job would end sooner without this query from now on, over all
  // resources and hosts: the median and a 90 % interval. For an ended job: time by which it would
  // have ended sooner, with bounds as above. Set only for the three worst queries, and never for
  // queries of the job itself. While the job runs, it is unset without a forecast or if the query
  // runs no task.
  std::optional<double> sooner_seconds;
  std::optional<double> sooner_seconds_lower;
  std::optional<double> sooner_seconds_upper;
  friend bool operator==(const ContendingQuery&, const ContendingQuery&) = default;
};

// The wait of one query for one resource.
struct QueryWait {
  // Sum over its stages. Empty if no task reported it.
  std::optional<double> seconds;
  // True if some tasks did not report it, so `seconds` is a lower bound.
  bool is_least = false;
  friend bool operator==(const QueryWait&, const QueryWait&) = default;
};

// Additional time of tasks because they read more than in past runs of their job, if their time
// grows with their input.
//
// Counts stages that read markedly more than before, by more than past runs differ from each other.
struct DataGrowth {
  // Sum over tasks, unlike all other seconds here.
  double task_seconds = 0;
  // Bounds from the largest and the smallest past input. Empty if a stage has a single past run.
  std::optional<double> task_seconds_lower;
  std::optional<double> task_seconds_upper;
  // Bytes that ended tasks of these stages read, and the median over past runs of the same stages.
  double read_bytes = 0;
  double earlier_read_bytes = 0;
  // Time of all ended tasks of the query without their waits for processors and memory. It includes
  // task_seconds. 0 if unknown.
  double all_task_seconds = 0;
  friend bool operator==(const DataGrowth&, const DataGrowth&) = default;
};

// The longest successful attempt and its longest key group.
//
// Seconds are from start to end and include waits.
struct LongestTask {
  AttemptId attempt;
  // Kind of its stage. kUnknown if not reported.
  StageKind kind = StageKind::kUnknown;
  // Empty if unknown.
  std::string host;
  double seconds = 0;
  // Mean over the tasks of its stage, including this one.
  double mean_seconds = 0;
  // Size and duration of its longest key group among the groups that were timed alone. 0 if none
  // was.
  std::uint64_t group_bytes = 0;
  double group_seconds = 0;
  friend bool operator==(const LongestTask&, const LongestTask&) = default;
};

// The waits of one query, and the queries that caused them.
struct QueryWaits {
  // Empty if the job names no queries.
  std::string query;
  // From its start to its end, or until now.
  std::optional<double> seconds;
  // The wait for slots counts only while other jobs held them and none was free. Other waits count
  // for any cause.
  PerWaitReason<QueryWait> waits;
  // Delay by skew: time by which the longest task of a stage exceeded the mean task, without waits.
  // Empty if no stage of several tasks has ended.
  std::optional<double> skew_seconds;
  // Among stages that followed one another. Empty if no task has ended, or if waits explain most of
  // its length.
  std::optional<LongestTask> longest_task;
  // Delay that the query's own data caused. Empty if no growth is known.
  std::optional<DataGrowth> data_growth;
  // The worst first.
  std::vector<ContendingQuery> culprits;
  friend bool operator==(const QueryWaits&, const QueryWaits&) = default;
};

// The answer to an ExplainQuestion, with one entry for each query.
struct Explanation {
  // The explained job and its run.
  std::string job_id;
  std::string run_uid;
  // End of the explained time, by the master's clock.
  absl::Time at;
  // Start of the observation.
  absl::Time since;
  // True if the job ran before `since`, or if the master had no memory for all of it.
  bool is_partial = false;
  // In the order of their starts.
  std::vector<QueryWaits> queries;
  // Number of omitted older queries.
  std::uint32_t queries_left_out = 0;
  // True if the job has ended, so `sooner_seconds` refers to the past.
  bool has_ended = false;
  // True if the job ended after `at`. Its last waits follow once tasks of other jobs have reported
  // them.
  bool more_to_come = false;
  // For a question that names a host: all hosts of the tasks of these queries, by name, within
  // `last` if the question names it. Empty if it names no host or no host is known.
  std::vector<std::string> hosts;
  friend bool operator==(const Explanation&, const Explanation&) = default;
};

// The question that an Explanation answers. Empty fields do not restrict it.
struct ExplainQuestion {
  // One query of the job by its name, such as sql/3.
  std::string query;
  // Only waits for this resource.
  std::optional<WaitReason> resource;
  // Only waits on this host. Slots belong to no host.
  std::string host;
  // Limit of contending queries for each query.
  std::size_t culprits_max = 3;
  // Limit of queries. The newest are kept.
  std::size_t queries_max = 200;
  // Only waits within this most recent time, in whole minutes.
  std::optional<absl::Duration> last;
  friend bool operator==(const ExplainQuestion&, const ExplainQuestion&) = default;
};

}  // namespace tidemark
