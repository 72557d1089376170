// The explanation of a slow job. It consists of the resources and hosts for which its queries
// waited, and of the other queries that caused the waits.
//
// A query is a unit that people wait for within a job: a SQL execution, or a Spark job that
// belongs to none. A job without named queries is one query with an empty name. Seconds are the
// delay of the query's end. They add up stages that followed one another, never stages at the same
// time. An unset value is unknown, which is not zero.
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
  // Empty for a job that the reader may not see or that is no longer tracked.
  std::string job_id;
  // Query of that job. Empty if the job names no queries or is hidden.
  std::string query;
  // Number of jobs behind an empty job_id. 0 for resource use that no task reported, by processes
  // outside of jobs or by other threads of a task's process.
  std::uint32_t jobs = 1;
  WaitReason resource = WaitReason::kSlots;
  // Host of the resource. Empty for slots. Slots belong to no single host.
  std::string host;
  // Delay of the waiting query's end that this query caused, in seconds.
  double seconds = 0;
  // Bounds of `seconds`. The lower bound assumes that other queries would have used the freed
  // resource. The upper bound is at most the total wait and at most the time that both ran. Unset
  // if unknown.
  std::optional<double> seconds_lower;
  std::optional<double> seconds_upper;
  // Time by which the explained job would end sooner without this query from now on, over all
  // resources and hosts. The median and a 90 % interval. For an ended job, the time by which it
  // would have ended sooner, with the same kind of bounds as `seconds`. Set only for the three
  // worst queries, and never for queries of the job itself. While the job runs, unset if the job
  // has no forecast or the query runs no task.
  std::optional<double> sooner_seconds;
  std::optional<double> sooner_seconds_lower;
  std::optional<double> sooner_seconds_upper;
  friend bool operator==(const ContendingQuery&, const ContendingQuery&) = default;
};

// The wait of one query for one resource.
struct QueryWait {
  // Sum over the query's stages. Unset if no task reported it.
  std::optional<double> seconds;
  // True if some tasks did not report the wait, so `seconds` is a lower bound.
  bool is_least = false;
  friend bool operator==(const QueryWait&, const QueryWait&) = default;
};

// Additional time of tasks because they read more than in past runs of their job, if their time
// grows with their input.
//
// Counts only stages that read markedly more than before. The excess must be larger than the
// differences between past runs.
struct DataGrowth {
  // Sum over tasks, unlike all other seconds here.
  double task_seconds = 0;
  // Bounds from the largest and the smallest past input. Unset if a stage has a single past run.
  std::optional<double> task_seconds_lower;
  std::optional<double> task_seconds_upper;
  // Bytes that ended tasks of these stages read, and the median over past runs of the same stages.
  double read_bytes = 0;
  double earlier_read_bytes = 0;
  // Time of all ended tasks of the query, excluding their waits for processors and memory. It
  // includes task_seconds. 0 if unknown.
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
  // Size and duration of its longest key group among the groups that were timed individually. 0
  // without such a group.
  std::uint64_t group_bytes = 0;
  double group_seconds = 0;
  friend bool operator==(const LongestTask&, const LongestTask&) = default;
};

// The waits of one query, and the queries that caused them.
struct QueryWaits {
  // Empty if the job names no queries.
  std::string query;
  // From the query's start to its end, or until now.
  std::optional<double> seconds;
  // The wait for slots counts only while other jobs held them and none was free. Other waits count
  // regardless of their cause.
  PerWaitReason<QueryWait> waits;
  // Delay by skew, which is the time by which the longest task of a stage exceeded the mean task,
  // excluding waits. Unset if no stage of several tasks has ended.
  std::optional<double> skew_seconds;
  // The longest task among stages that followed one another. Unset if no task has ended, or if
  // waits explain most of its length.
  std::optional<LongestTask> longest_task;
  // Delay that the query's own data caused. Unset if no growth is known.
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
  // True if the job was running before `since`, or if the master lacked memory for all its waits.
  bool is_partial = false;
  // In the order of the queries' starts.
  std::vector<QueryWaits> queries;
  // Number of omitted older queries.
  std::uint32_t queries_left_out = 0;
  // True if the job has ended, so `sooner_seconds` refers to the past.
  bool has_ended = false;
  // True if the job ended after `at`. Its last waits follow once tasks of other jobs have
  // reported.
  bool more_to_come = false;
  // All hosts of the tasks of these queries, sorted by name, for a question that names a host. If
  // the question sets `last`, only hosts of that time. Empty if the question names no host or no
  // host is known.
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
  // Only contending queries of this job, or JOB/QUERY for a single query. For a query of the
  // explained job itself, the job may be omitted.
  std::string because_of;
  friend bool operator==(const ExplainQuestion&, const ExplainQuestion&) = default;
};

}  // namespace tidemark
