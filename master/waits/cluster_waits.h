// Converts events, live or from a log, to the waits of the queries of all jobs and the causes of
// these waits (docs/internals/waits.md).
//
// A query is a group of stages: a SQL execution, or a Spark job outside SQL executions. Stages
// without a group form a query without a name. Pure.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "master/facts/lost_time.h"
#include "master/waits/attempts.h"
#include "master/waits/cluster_records.h"
#include "master/waits/contention.h"
#include "master/waits/ledger.h"
#include "master/waits/own_causes.h"
#include "tidemark/event.h"
#include "tidemark/explanation.h"

namespace tidemark::waits {

class ContentionSums;

struct QueryName {
  std::string job_id;
  std::string query;  // empty if the job has no named queries
  friend auto operator<=>(const QueryName&, const QueryName&) = default;
};

// A task without a report for this long is assumed to be running, and no longer delays answers.
// Chosen by hand; Spark's executors report their tasks every 10 s.
inline constexpr absl::Duration kSilenceMax = absl::Seconds(45);

// The part of a job's task time that it lost to one query of another job, for all resources except
// slots.
struct LossesTo {
  QueryName query;
  facts::LostTime lost;
};

// The time by which a job ended later because of one query of another job, for all resources except
// slots. In seconds; lower <= seconds <= upper.
struct CostOf {
  QueryName query;
  double seconds = 0;
  double lower = 0;
  double upper = 0;
};

// Limits for all jobs together. At a limit, the oldest ended query is removed. If all queries run,
// the new query is not tracked, and answers are partial.
struct ClusterLimits {
  // Also limits queries, and stage names in past runs. A job may use half of it.
  std::size_t stages_max = 20'000;
  std::size_t hosts_max = 10'000;      // hosts that have a sum or a running task
  std::size_t meetings_max = 200'000;  // about 30 MB
  std::size_t attempts_max = 200'000;  // running attempts
};

// Each job has its own slots, since it is unknown which jobs share a pool. Jobs share hosts of the
// same name.
//
// Apply() takes O(1) time, but O(open stages of the job) when the job's slots fill up. Advance()
// takes O(running attempts) time in addition to Contention::Advance(). Ask() takes O(meetings of
// the job's stages) time. Memory: that of Contention, plus O(queries + stages + hosts + running
// attempts), within ClusterLimits. Not thread-safe. Deterministic in the order of calls, up to
// rounding.
class ClusterWaits {
 public:
  explicit ClusterWaits(const ClusterLimits& limits = {});

  // Adds a job that ran before its first event. The time until `now` was not observed.
  void Resume(const std::string& job_id, const std::string& run_uid, absl::Time now);
  // Applies an event. Events must be in order within a source, without duplicates. An event that
  // contradicts earlier events is ignored.
  void Apply(const Event& event);
  // Advances the clock of Event::arrived_at to `now`, and folds past pieces into sums.
  void Advance(absl::Time now);
  // Ends all running tasks at the last event. No event may follow.
  void Finish();
  // Replaces the input of past runs for the job's newest run. Ignores an unknown job. Stores
  // nothing if there are too many stages.
  void SetPastInput(const std::string& job_id, PastInput past);
  void Forget(const std::string& job_id);

  // Answers the question about the newest run of the job. Returns nullopt if the job is unknown.
  std::optional<Explanation> Ask(const std::string& job_id, const ExplainQuestion& question) const;
  // Adds the newest run of the job to the contention of the cluster. Does nothing if the job is
  // unknown. O(m log n) for m stages and meetings of the job, and n in total.
  void AddContention(const std::string& job_id, ContentionSums& sums) const;
  // Returns the losses of the newest run of the job to at most `most` queries of `to`, the worst
  // first. Counts only queries of other jobs that run tasks now. Covers the most recent time
  // `last`, in whole minutes, or all time if unset. O(running attempts), plus O(meetings of the
  // job's stages + `most` x its stages) if a query of `to` runs.
  std::vector<LossesTo> Losses(const std::string& job_id, const std::set<QueryName>& to,
                               std::size_t most, const std::optional<absl::Duration>& last) const;
  // Returns by how much later the job ended, or has progressed so far, because of queries of `to`,
  // whether or not they run tasks. Adds up consecutive stages, across all queries. O(meetings of
  // the job's stages).
  std::vector<CostOf> Costs(const std::string& job_id, const std::set<QueryName>& to,
                            std::size_t most, const std::optional<absl::Duration>& last) const;
  // Returns the IDs of all jobs, sorted.
  std::vector<std::string> jobs() const { return records_.JobIds(); }

 private:
  using Key = std::tuple<JobNumber, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  struct Running {
    Attempt attempt{};
    Stage stage{};
    Host host{};
    double from = 0;
    double flushed_at = 0;                // time of the last report to Attempts
    double reported_at = 0;               // time of `totals`
    bool reports_processor_wait = false;  // true if the attempt reports this wait as a total
    TaskUse totals;                       // totals that arrived after flushed_at
    // The last known totals; 0 for reasons whose wait includes service.
    PerWaitReason<double> waited;
    double input_bytes = 0;  // size of the attempt's input; 0 if unknown
    double read_bytes = 0;   // read so far
    LongestGroup longest_group;
  };

  static Key KeyOf(JobNumber number, const AttemptId& id);
  static AttemptId IdIn(const Key& key);
  std::string NameOf(Host host) const;
  double SecondsOf(absl::Time at);
  double InstantOf(TrackedJob& job, const Event& event, const std::optional<absl::Time>& at);
  JobNumber JobOf(const Event& event);
  TrackedJob& AddJob(const std::string& id, const std::string& run_uid, absl::Time since);
  std::optional<Query> QueryOf(JobNumber number, const std::string& name);
  std::optional<Stage> StageOf(JobNumber number, std::uint32_t stage_number);
  Host HostOf(TrackedJob& job, const std::string& name, Query query);
  std::vector<std::string> HostsOf(std::span<const Query> queries,
                                   const std::optional<absl::Duration>& last) const;
  Running* FindRunning(JobNumber number, const AttemptId& id);
  void AddInput(JobNumber number, const AttemptId& id, double input_bytes, double read_bytes);
  void AddGroups(JobNumber number, const ReduceProfile& profile);
  void AddTotals(JobNumber number, const AttemptId& id, TaskUse use,
                 const std::optional<ProcessorUse>& reducing, const Event& event);
  void Open(JobNumber number, const StageOpened& opened, const Event& event);
  void Close(TrackedJob& job, Stage stage);
  void OpenExecutor(TrackedJob& job, EventSource& source, const ExecutorOpened& opened);
  void CloseExecutor(TrackedJob& job, EventSource& source, const ExecutorClosed& closed);
  void Change(JobNumber number, const AttemptChanged& changed, const Event& event);
  void MarkOutputLost(const TrackedJob& job, std::uint32_t stage_number);
  void Start(JobNumber number, const AttemptChanged& changed, const Event& event);
  void End(const Key& key, double at, bool is_good);
  void EndAll(JobNumber number);
  void CloseJob(JobNumber number, double at);
  void Add(const std::optional<Piece>& piece);
  void AddSlotWaits(const std::vector<Piece>& pieces);
  static void StoreWaits(Running& running);
  void Flush(Running& running, double until);
  void Fold(double until);
  bool MakeRoom(const TrackedJob* of = nullptr);
  void ForgetJob(JobNumber number);
  void DropForgotten();

  const ClusterLimits limits_;
  std::optional<absl::Time> first_;
  double now_ = 0;
  ClusterRecords records_;
  Attempts attempts_;
  Contention contention_;
  bool is_over_ = false;  // true if the sums are at their limit and no query can be removed
  // true if unused hosts have been searched since the last query was removed
  bool has_searched_hosts_ = false;
  absl::flat_hash_map<Key, Running> running_;
  std::uint64_t attempts_seen_ = 0;
};

}  // namespace tidemark::waits
