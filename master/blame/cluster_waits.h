// What the queries of all jobs waited for, and because of which others: what blame (docs/blame.md)
// makes of events, of a log or while they come. A query is a group of stages: a SQL execution, or a
// job of Spark outside of any; stages of no group are those of a query without a name. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "master/blame/attempts.h"
#include "master/blame/contention.h"
#include "master/blame/resource.h"
#include "master/blame/stage.h"
#include "master/model/clock_offset.h"
#include "tidemark/event.h"
#include "tidemark/explanation.h"

namespace tidemark::blame {

// Of all jobs together. What is over a limit takes the place of the oldest query that has ended;
// where all run, it is not followed, and answers say so.
struct ClusterLimits {
  std::size_t stages_max = 20'000;  // and as many queries; half of them of one job
  std::size_t hosts_max = 10'000;
  std::size_t meetings_max = 200'000;  // about 30 MB
  std::size_t attempts_max = 200'000;  // that run
};

// Slots are those of each job: which jobs share them is not told. Hosts are shared by name.
//
// Cost: Apply() O(1), but O(open stages of the job) when its slots fill up; Advance() that of
// Contention and O(attempts that run); Ask() O(what the job's stages met).
// Memory: that of Contention, and O(queries + stages + hosts + attempts that run), within
// ClusterLimits. Not thread-safe. Deterministic in the order of calls, up to rounding.
class ClusterWaits {
 public:
  explicit ClusterWaits(const ClusterLimits& limits = {});

  // In order within a source, and none twice. What contradicts what was told before is left out.
  void Apply(const Event& event);
  // It is `now`, by the clock of Event::arrived_at: what is over is folded into sums.
  void Advance(absl::Time now);
  // Nothing is applied afterwards: what still runs, ran until the last event.
  void Finish();
  // Nobody will ask about the job any more. One that is not known: does nothing.
  void Forget(const std::string& job_id);

  // The newest run of the job. Empty: nothing is known of it.
  std::optional<Explanation> Ask(const std::string& job_id, const ExplainQuestion& question) const;
  // In the order of their ids.
  std::vector<std::string> jobs() const;

 private:
  using JobNumber = std::uint32_t;
  using Key = std::tuple<JobNumber, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  static constexpr double kNever = -std::numeric_limits<double>::infinity();

  struct Executor {
    std::string host;
    std::uint32_t slots = 0;
  };
  struct Source {
    model::ClockOffset clock;
    std::map<std::uint32_t, Executor> executors;
  };
  struct JobRecord {
    std::string id;
    std::string run_uid;
    absl::Time since;
    bool is_seen_whole = true;  // from its first event on
    bool is_closed = false;
    bool is_partial = false;  // something of it is not followed
    std::map<std::string, Source> sources;
    std::map<std::string, Query> queries;
    std::map<std::uint32_t, Stage> stages;
    std::uint32_t queries_left_out = 0;
    // Its slots.
    double now = kNever;  // of what was told of its attempts
    std::uint64_t slots = 0;
    bool slots_told = false;
    std::uint64_t running = 0;
    bool is_full = false;              // counting a slot that will be filled again at once as taken
    std::optional<double> free_since;  // while is_full: since when one is free
    std::set<Stage> waiting;           // open stages with tasks that wait
  };
  struct QueryRecord {
    JobNumber job = 0;
    std::string name;
    std::uint64_t order = 0;
    std::optional<double> from;
    std::optional<double> to;
    std::size_t open_stages = 0;
    bool is_free = false;
    std::vector<Stage> stages;
  };
  struct StageRecord {
    std::uint32_t number = 0;
    std::uint32_t attempt = 0;
    bool is_open = false;
    bool has_query = false;
    std::optional<double> opened_at;  // this attempt
    std::uint32_t waiting = 0;        // tasks that have not begun
    double waited_until = kNever;     // while its job is full: what is told already
    bool has_started = false;
    double full_seconds = 0;  // that it waited while no slot was free, before its first task
    // Of tasks that ended well, less what they waited.
    std::uint64_t ended = 0;
    double ended_seconds = 0;
    double longest_seconds = 0;
  };
  struct Running {
    Attempt attempt{};
    Stage stage{};
    double from = 0;
    double heard_at = 0;
    double told_at = 0;  // when `totals` were
    TaskUse totals;
  };
  struct Sums;

  double SecondsOf(absl::Time at);
  JobNumber JobOf(const Event& event);
  std::optional<Query> QueryOf(JobNumber job, const std::string& name);
  std::optional<Stage> StageOf(JobNumber job, std::uint32_t number);
  Host HostOf(const std::string& name, Query query);
  double InstantOf(JobRecord& job, const Event& event, const std::optional<absl::Time>& at);
  void Open(JobNumber number, const StageOpened& opened, const Event& event);
  void CloseStage(JobRecord& job, Stage stage);
  void Change(JobNumber number, const AttemptChanged& changed, const Event& event);
  void Start(JobNumber number, const AttemptChanged& changed, const Event& event);
  void End(const Key& key, double at, bool is_good);
  void EndAll(JobNumber number);
  void CloseJob(JobNumber number, double at);
  void Add(const std::optional<Piece>& piece);
  void Tell(Running& running, double until);
  void TellWait(JobRecord& job, Stage stage, double until, bool got_slot = false);
  void SeeWhetherFull(JobRecord& job, double at);
  void Settle(JobRecord& job, double at);
  void Fold(double until);
  bool HasRoom(JobRecord& job, std::size_t of_job, std::size_t of_all);
  bool MakeRoom(const JobRecord* of = nullptr);
  void Forget(Query query);
  void ForgetJob(JobNumber number);
  void DropForgotten();
  void AddStage(const Ledger& ledger, Stage stage, const ExplainQuestion& question,
                Sums& sums) const;
  std::optional<QueryWaits> WaitsOf(Query query, const ExplainQuestion& question) const;
  Culprit CulpritOf(Query query) const;

  const ClusterLimits limits_;
  std::optional<absl::Time> first_;
  double now_ = 0;
  Attempts attempts_;
  Contention contention_;
  std::map<JobNumber, JobRecord> jobs_;
  std::map<std::string, JobNumber> job_by_id_;
  JobNumber jobs_seen_ = 0;
  std::vector<QueryRecord> queries_;
  std::vector<Query> free_queries_;
  std::uint64_t queries_seen_ = 0;
  std::vector<StageInfo> stages_;  // the first stands for all that are forgotten
  std::vector<StageRecord> records_;
  std::vector<Stage> free_stages_;
  absl::flat_hash_set<Stage> forgotten_;
  bool is_over_ = false;  // the sums are as large as they may be, and nothing can be forgotten
  std::vector<std::string> hosts_;
  std::map<std::string, Host> host_by_name_;
  absl::flat_hash_map<Key, Running> running_;
  std::uint64_t attempts_seen_ = 0;
};

}  // namespace tidemark::blame
