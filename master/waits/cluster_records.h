// The jobs, queries, stages and hosts of a cluster, by name and by the numbers that the rest of
// blame knows them by. Numbers of what is forgotten are given away again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "master/facts/clock_offset.h"
#include "master/waits/data_growth.h"
#include "master/waits/job_slots.h"
#include "master/waits/resource.h"
#include "tidemark/event.h"

namespace tidemark::blame {

enum class JobNumber : std::uint32_t {};

// Stand for all that are forgotten.
inline constexpr Stage kForgottenStage{0};
inline constexpr Query kForgottenQuery{0};

struct Executor {
  std::string host;
  std::uint32_t slots = 0;
};

// Of a job: its driver, say.
struct Source {
  model::ClockOffset clock;
  std::map<std::uint32_t, Executor> executors;
};

struct JobRecord {
  explicit JobRecord(Pool pool) : slots(pool) {}
  std::string id;
  std::string run_uid;
  absl::Time since;
  double began_at = 0;        // when it was submitted, or first heard of, whichever was earlier
  bool is_seen_whole = true;  // from its first event on
  bool is_closed = false;
  bool is_partial = false;  // something of it is not followed
  std::map<std::string, Source> sources;
  std::map<std::string, Query> queries;
  std::map<std::uint32_t, Stage> stages;
  std::uint32_t queries_left_out = 0;
  JobSlots slots;
  EarlierData earlier;
};

struct QueryRecord {
  JobNumber job{};
  std::string name;
  std::uint64_t order = 0;
  std::optional<double> from;
  std::optional<double> to;
  std::size_t open_stages = 0;
  bool is_free = false;
  std::vector<Stage> stages;
};

// That took longest of those that ended well.
struct LongestAttempt {
  AttemptId attempt;
  std::string host;          // empty: not told
  double seconds = 0;        // from its start to its end
  double own_seconds = 0;    // less what it waited
  double group_seconds = 0;  // its longest key group; 0: none is known
  std::uint64_t group_bytes = 0;
};

struct StageRecord {
  std::uint32_t number = 0;
  Query query{};
  bool has_query = false;  // that was told
  std::uint32_t attempt = 0;
  bool is_open = false;
  std::optional<double> opened_at;  // this attempt
  bool has_started = false;
  double full_seconds = 0;  // that it waited while no slot was free, before its first task
  double full_until = 0;
  StageKind kind = StageKind::kUnknown;
  std::string data_name;    // in EarlierData::stages; empty: in none
  std::uint64_t tasks = 0;  // of this attempt; 0: not told
  // Of tasks that ended well; own seconds are less what they waited for processors and memory.
  std::uint64_t ended = 0;
  double ended_seconds = 0;
  double ended_own_seconds = 0;
  double longest_own_seconds = 0;
  LongestAttempt longest;
  double read_bytes = 0;
  bool has_lost_output = false;  // of a task that had ended well, which runs again
};

// Not thread-safe. References to queries and stages hold until one is added.
class ClusterRecords {
 public:
  ClusterRecords(std::size_t stages_max, std::size_t hosts_max);

  // The newest run of the job; empty: none.
  std::optional<JobNumber> FindJob(const std::string& id) const;
  JobNumber AddJob(const std::string& id);
  JobRecord& job(JobNumber number) { return jobs_.at(number); }
  const JobRecord& job(JobNumber number) const { return jobs_.at(number); }
  const std::map<JobNumber, JobRecord>& jobs() const { return jobs_; }
  std::map<JobNumber, JobRecord>& jobs() { return jobs_; }
  // In the order of their ids.
  std::vector<std::string> JobIds() const;

  // No job has more than half of all.
  bool JobHasRoomForQuery(const JobRecord& job) const;
  bool JobHasRoomForStage(const JobRecord& job) const;
  bool HasRoomForQuery() const { return queries_.size() - free_queries_.size() <= stages_max_; }
  bool HasRoomForStage() const { return stages_.size() - free_stages_.size() <= stages_max_; }
  Query AddQuery(JobNumber number, const std::string& name);
  Stage AddStage(JobNumber number, Query query, std::uint32_t stage_number);
  void MoveStage(Stage stage, Query query);
  QueryRecord& query(Query query) { return queries_[static_cast<std::size_t>(query)]; }
  const QueryRecord& query(Query query) const { return queries_[static_cast<std::size_t>(query)]; }
  StageRecord& stage(Stage stage) { return stages_[static_cast<std::size_t>(stage)]; }
  const StageRecord& stage(Stage stage) const { return stages_[static_cast<std::size_t>(stage)]; }

  // A host whose name is not told, or for which there is no room, is one of the query's own: its
  // tasks meet nobody else's there.
  Host HostOf(const std::string& name, Query query);
  bool HasRoomForHost(const std::string& name) const;
  // The numbers of all other hosts are given away again.
  void KeepHosts(const absl::flat_hash_set<Host>& used);
  static bool IsTold(Host host) { return static_cast<std::uint32_t>(host) < kFirstUntold; }
  // REQUIRES: IsTold(host).
  const std::string& HostName(Host host) const { return hosts_[static_cast<std::size_t>(host)]; }

  // Forgets the oldest queries that have ended, of all or of one job; some at a time. False: all
  // run.
  bool ForgetEnded(const JobRecord* of = nullptr);
  void ForgetJob(JobNumber number);
  // Stages whose numbers sums still hold; they are given away again once these are dropped.
  const absl::flat_hash_set<Stage>& forgotten() const { return forgotten_; }
  std::size_t stages() const { return stages_.size(); }
  void FreeForgotten();

 private:
  // Numbers of hosts that are not told, by query.
  static constexpr std::uint32_t kFirstUntold = 1U << 30;

  void Forget(Query query);

  std::size_t stages_max_;
  std::size_t hosts_max_;
  std::map<JobNumber, JobRecord> jobs_;
  std::map<std::string, JobNumber> job_by_id_;
  std::uint32_t jobs_seen_ = 0;
  std::vector<QueryRecord> queries_;
  std::vector<Query> free_queries_;
  std::uint64_t queries_seen_ = 0;
  std::vector<StageRecord> stages_;
  std::vector<Stage> free_stages_;
  absl::flat_hash_set<Stage> forgotten_;
  std::vector<std::string> hosts_;
  std::vector<Host> free_hosts_;
  std::map<std::string, Host> host_by_name_;
};

}  // namespace tidemark::blame
