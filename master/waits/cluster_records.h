// The jobs, queries, stages and hosts of a cluster, by name and by the numbers that the other files
// of this directory use. Numbers of removed entries are reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "master/facts/report_times.h"
#include "master/waits/ledger.h"
#include "master/waits/own_causes.h"
#include "tidemark/event.h"

namespace tidemark::waits {

// The slots of one job, and the stages whose tasks wait for one. A wait counts only while no slot
// is free. While a slot is free, a task may wait for a slot near its data, and no query causes this
// wait.
//
// Instants are seconds, as in Piece, in roughly chronological order. The waits of stages for slots
// are returned as pieces of the queue. One piece holds the waits of all tasks of a stage.
//
// O(1), but O(waiting stages) for ReportWaits(), when the last slot is taken, and when a slot
// stays free. Not thread-safe.
class JobSlots {
 public:
  explicit JobSlots(Pool pool) : pool_(pool) {}

  void Add(std::uint32_t slots) { slots_ += slots; }
  void Remove(std::uint32_t slots) { slots_ -= slots; }
  // Declares that all slots are known from now on. Before this call, no wait counts, since an
  // executor may have existed before the first event.
  void SetKnown() { is_known_ = !is_abandoned_; }
  bool is_known() const { return is_known_; }
  // Stops all accounting after some tasks of the job could not be tracked, since the holders of
  // its slots are then unknown.
  void Abandon();
  // Must be called after slots were added or removed, or a task started or ended.
  void UpdateFullness(double at);

  // Adds `tasks` waiting tasks of the stage. REQUIRES: the stage is not waiting, and tasks > 0.
  std::vector<Piece> Queue(Stage stage, std::uint32_t tasks, double at);
  void Withdraw(Stage stage) { waiting_.erase(stage); }
  bool IsWaiting(Stage stage) const { return waiting_.contains(stage); }
  // Returns the time up to which the waits of the stage have been returned as pieces. REQUIRES:
  // IsWaiting(stage).
  double WaitedUntil(Stage stage) const { return waiting_.at(stage).until; }

  // Records that a task takes a slot. If `from_queue` is true, it is one of the waiting tasks.
  std::vector<Piece> Start(Stage stage, double at, bool from_queue);
  std::vector<Piece> End(double at);

  // If all slots are still taken at `now`, returns the waits up to `until`.
  std::vector<Piece> ReportWaits(double now, double until);

 private:
  static constexpr double kNever = -std::numeric_limits<double>::infinity();
  struct Waiting {
    std::uint32_t tasks = 0;
    // time up to which waits have been returned, or at which a slot was last free
    double until = kNever;
  };

  void Settle(double at, std::vector<Piece>& pieces);
  void ReportWait(Stage stage, double until, bool got_slot, std::vector<Piece>& pieces);

  Pool pool_{};
  double now_ = kNever;
  std::uint64_t slots_ = 0;
  bool is_known_ = false;
  bool is_abandoned_ = false;
  std::uint64_t running_ = 0;
  // True if no slot is free, or if a slot has become free and may be filled immediately.
  bool is_full_ = false;
  std::optional<double> free_since_;  // time at which a slot became free while is_full_
  std::map<Stage, Waiting> waiting_;
};

enum class JobNumber : std::uint32_t {};

// These numbers represent all removed stages and queries.
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
  double began_at = 0;        // submission or first event, whichever was earlier
  bool is_seen_whole = true;  // true if observed from its first event on
  bool is_closed = false;
  bool is_partial = false;  // true if a part of it is not tracked
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
  double seconds = 0;        // duration, including waits
  double own_seconds = 0;    // duration, excluding waits that do not include service
  double group_seconds = 0;  // duration of the task's longest key group; 0 if unknown
  std::uint64_t group_bytes = 0;
};

struct TrackedStage {
  std::uint32_t number = 0;
  Query query{};
  bool has_query = false;  // true if an event named the query
  std::uint32_t attempt = 0;
  bool is_open = false;
  std::optional<double> opened_at;  // start of this attempt at the stage
  bool has_started = false;
  double full_seconds = 0;  // wait before the first task while no slot was free
  double full_until = 0;
  StageKind kind = StageKind::kUnknown;
  std::vector<std::uint32_t> parents;  // at most kParentsMax stage numbers of the job
  std::string data_name;               // key in PastInput::stages; empty if the stage has none
  std::uint64_t tasks = 0;             // number of tasks of this attempt; 0 if unknown
  // Successful tasks. Own seconds exclude the waits that do not include service.
  std::uint64_t ended = 0;
  double ended_seconds = 0;
  double ended_own_seconds = 0;
  double longest_own_seconds = 0;
  LongestAttempt longest;
  double read_bytes = 0;
  bool has_lost_output = false;  // true if a successful task runs again because its output was lost
};

// Not thread-safe. References to queries and stages are valid until another one is added.
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

  // One job may take at most half of all queries and stages.
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

  // Returns the host with that name. If the name is empty or there is no space, the host belongs
  // only to the query, so that its tasks meet no other query there.
  Host HostOf(const std::string& name, Query query);
  bool HasRoomForHost(const std::string& name) const;
  // Frees the numbers of all hosts except `used`.
  void KeepHosts(const absl::flat_hash_set<Host>& used);
  static bool IsNamed(Host host) { return static_cast<std::uint32_t>(host) < kFirstUnnamed; }
  // REQUIRES: IsNamed(host).
  const std::string& HostName(Host host) const { return hosts_[static_cast<std::size_t>(host)]; }

  // Removes some of the oldest ended queries, of all jobs or of one job. Returns false if no query
  // has ended.
  bool ForgetEnded(const TrackedJob* of = nullptr);
  void ForgetJob(JobNumber number);
  // Returns the removed stages whose numbers are still used by sums.
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
