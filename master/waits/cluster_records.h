// The jobs, queries, stages and hosts of a cluster, by name and by the numbers that the rest of
// this directory uses. Numbers of removed entries are reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "master/facts/report_times.h"
#include "master/waits/job_slots.h"
#include "master/waits/own_causes.h"
#include "master/waits/piece.h"
#include "tidemark/event.h"

namespace tidemark::waits {

enum class JobNumber : std::uint32_t {};

// Represent all removed stages and queries.
inline constexpr Stage kForgottenStage{0};
inline constexpr Query kForgottenQuery{0};

// Limits the memory of a stage. Depths only weigh the stages of a query against each other.
inline constexpr std::size_t kParentsMax = 64;

struct KnownExecutor {
  std::string host;
  std::uint32_t slots = 0;
};

// A sender of a job's events, such as its driver.
struct EventSource {
  facts::ClockOffset clock;
  std::map<std::uint32_t, KnownExecutor> executors;
};

struct TrackedJob {
  explicit TrackedJob(Pool pool) : slots(pool) {}
  std::string id;
  std::string run_uid;
  absl::Time since;
  double began_at = 0;        // its submission or its first event, whichever was earlier
  bool is_seen_whole = true;  // true if observed from its first event on
  bool is_closed = false;
  bool is_partial = false;  // a part of it is not tracked
  std::map<std::string, EventSource> sources;
  std::map<std::string, Query> queries;
  std::map<std::uint32_t, Stage> stages;
  std::uint32_t queries_left_out = 0;
  JobSlots slots;
  PastInput past_input;
};

struct TrackedQuery {
  JobNumber job{};
  std::string name;
  std::uint64_t order = 0;
  std::optional<double> from;
  std::optional<double> to;
  std::size_t open_stages = 0;
  bool is_free = false;
  std::vector<Stage> stages;
};

// The longest successful attempt of a stage.
struct LongestAttempt {
  AttemptId attempt;
  std::string host;          // empty if unknown
  double seconds = 0;        // from its start to its end
  double own_seconds = 0;    // excludes waits that do not include service
  double group_seconds = 0;  // duration of the task's longest key group; 0 if unknown
  std::uint64_t group_bytes = 0;
};

struct TrackedStage {
  std::uint32_t number = 0;
  Query query{};
  bool has_query = false;  // an event named the query
  std::uint32_t attempt = 0;
  bool is_open = false;
  std::optional<double> opened_at;  // start of this attempt of the stage
  bool has_started = false;
  double full_seconds = 0;  // its wait before its first task while no slot was free
  double full_until = 0;
  StageKind kind = StageKind::kUnknown;
  std::vector<std::uint32_t> parents;  // at most kParentsMax stage numbers of the job
  std::string data_name;               // its key in PastInput::stages; empty if it has none
  std::uint64_t tasks = 0;             // number of tasks of this attempt; 0 if unknown
  // Successful tasks. Own seconds exclude the waits that do not include service.
  std::uint64_t ended = 0;
  double ended_seconds = 0;
  double ended_own_seconds = 0;
  double longest_own_seconds = 0;
  LongestAttempt longest;
  double read_bytes = 0;
  bool has_lost_output = false;  // a successful task runs again because its output was lost
};

// Not thread-safe. References to queries and stages are valid until one is added.
class ClusterRecords {
 public:
  ClusterRecords(std::size_t stages_max, std::size_t hosts_max);

  // Returns the newest run of the job, or nullopt if the job is unknown.
  std::optional<JobNumber> FindJob(const std::string& id) const;
  JobNumber AddJob(const std::string& id);
  TrackedJob& job(JobNumber number) { return jobs_.at(number); }
  const TrackedJob& job(JobNumber number) const { return jobs_.at(number); }
  const std::map<JobNumber, TrackedJob>& jobs() const { return jobs_; }
  std::map<JobNumber, TrackedJob>& jobs() { return jobs_; }
  // Returns the IDs of all jobs, sorted.
  std::vector<std::string> JobIds() const;

  // One job has room for at most half of all queries and stages.
  bool JobHasRoomForQuery(const TrackedJob& job) const;
  bool JobHasRoomForStage(const TrackedJob& job) const;
  bool HasRoomForQuery() const { return queries_.size() - free_queries_.size() <= stages_max_; }
  bool HasRoomForStage() const { return stages_.size() - free_stages_.size() <= stages_max_; }
  Query AddQuery(JobNumber number, const std::string& name);
  Stage AddStage(JobNumber number, Query query, std::uint32_t stage_number);
  void MoveStage(Stage stage, Query query);
  TrackedQuery& query(Query query) { return queries_[static_cast<std::size_t>(query)]; }
  const TrackedQuery& query(Query query) const { return queries_[static_cast<std::size_t>(query)]; }
  TrackedStage& stage(Stage stage) { return stages_[static_cast<std::size_t>(stage)]; }
  const TrackedStage& stage(Stage stage) const { return stages_[static_cast<std::size_t>(stage)]; }

  // Returns the host of that name. If the name is empty or there is no room, the host belongs only
  // to the query, so that its tasks meet no other query there.
  Host HostOf(const std::string& name, Query query);
  bool HasRoomForHost(const std::string& name) const;
  // Frees the numbers of all hosts but `used`.
  void KeepHosts(const absl::flat_hash_set<Host>& used);
  static bool IsNamed(Host host) { return static_cast<std::uint32_t>(host) < kFirstUnnamed; }
  // REQUIRES: IsNamed(host).
  const std::string& HostName(Host host) const { return hosts_[static_cast<std::size_t>(host)]; }

  // Removes some of the oldest ended queries, of all jobs or of one. Returns false if no query has
  // ended.
  bool ForgetEnded(const TrackedJob* of = nullptr);
  void ForgetJob(JobNumber number);
  // Returns the removed stages whose numbers are still in use by sums.
  const absl::flat_hash_set<Stage>& forgotten() const { return forgotten_; }
  std::size_t stages() const { return stages_.size(); }
  // Frees the numbers of removed stages. REQUIRES: no sum uses them.
  void FreeForgotten();

 private:
  // The first number of unnamed hosts, which are numbered by query.
  static constexpr std::uint32_t kFirstUnnamed = 1U << 30;

  void Forget(Query query);

  std::size_t stages_max_;
  std::size_t hosts_max_;
  std::map<JobNumber, TrackedJob> jobs_;
  std::map<std::string, JobNumber> job_by_id_;
  std::uint32_t jobs_seen_ = 0;
  std::vector<TrackedQuery> queries_;
  std::vector<Query> free_queries_;
  std::uint64_t queries_seen_ = 0;
  std::vector<TrackedStage> stages_;
  std::vector<Stage> free_stages_;
  absl::flat_hash_set<Stage> forgotten_;
  std::vector<std::string> hosts_;
  std::vector<Host> free_hosts_;
  std::map<std::string, Host> host_by_name_;
};

}  // namespace tidemark::waits
