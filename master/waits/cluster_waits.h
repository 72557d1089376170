// What the queries of all jobs waited for, and because of which others: what blame (docs/blame.md)
// makes of events, of a log or while they come. A query is a group of stages: a SQL execution, or a
// job of Spark outside of any; stages of no group are those of a query without a name. Pure.
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
#include "master/waits/data_growth.h"
#include "master/waits/longest_group.h"
#include "master/waits/resource.h"
#include "tidemark/event.h"
#include "tidemark/explanation.h"

namespace tidemark::blame {

struct QueryName {
  std::string job_id;
  std::string query;  // empty: the job names none
  friend auto operator<=>(const QueryName&, const QueryName&) = default;
};

// A task that was not heard of for so long is there all the same, and answers wait for it no
// longer. Taste: Spark's executors tell of their tasks every 10 s.
inline constexpr absl::Duration kSilenceMax = absl::Seconds(45);

// What the tasks of a job lost to one query of another job, for want of anything but slots.
struct LossesTo {
  QueryName query;
  model::LostTime lost;
};

// By so much later a job ended because of one query of another job, for want of anything but slots.
// Seconds, lower <= seconds <= upper.
struct CostOf {
  QueryName query;
  double seconds = 0;
  double lower = 0;
  double upper = 0;
};

// Of all jobs together. What is over a limit takes the place of the oldest query that has ended;
// where all run, it is not followed, and answers say so.
struct ClusterLimits {
  std::size_t stages_max = 20'000;     // and as many queries; half of them of one job. Of earlier
                                       // runs as many names of stages.
  std::size_t hosts_max = 10'000;      // of which any sum or task is left
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

  // The job ran before anything of it is applied: what was until `now` was not seen.
  void Resume(const std::string& job_id, const std::string& run_uid, absl::Time now);
  // In order within a source, and none twice. What contradicts what was told before is left out.
  void Apply(const Event& event);
  // It is `now`, by the clock of Event::arrived_at: what is over is folded into sums.
  void Advance(absl::Time now);
  // Nothing is applied afterwards: what still runs, ran until the last event.
  void Finish();
  // What earlier runs of the job read, in place of what was known of that. For its newest run; of a
  // job that is not known, and of more stages than there is room for, nothing is kept.
  void SetEarlierData(const std::string& job_id, EarlierData earlier);
  // Nobody will ask about the job any more. One that is not known: does nothing.
  void Forget(const std::string& job_id);

  // The newest run of the job. Empty: nothing is known of it.
  std::optional<Explanation> Ask(const std::string& job_id, const ExplainQuestion& question) const;
  // Of the newest run of the job, in `last`, in minutes, or in all: to the `most` queries that took
  // most, of those of `to` that are of other jobs and run tasks now; the worst first.
  // Cost: O(attempts that run), and if one of `to` does O(what the job's stages met, and `most` x
  // its stages).
  std::vector<LossesTo> Losses(const std::string& job_id, const std::set<QueryName>& to,
                               std::size_t most, const std::optional<absl::Duration>& last) const;
  // Likewise, whether they run tasks or not: by how much later the job ended, or has come so far.
  // Stages that followed one another are added up, whatever their queries. Cost: O(what the job's
  // stages met).
  std::vector<CostOf> Costs(const std::string& job_id, const std::set<QueryName>& to,
                            std::size_t most, const std::optional<absl::Duration>& last) const;
  // In the order of their ids.
  std::vector<std::string> jobs() const { return records_.JobIds(); }

 private:
  using Key = std::tuple<JobNumber, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  struct Running {
    Attempt attempt{};
    Stage stage{};
    Host host{};
    double from = 0;
    double heard_at = 0;
    double told_at = 0;           // when `news` were
    bool tells_waits = false;     // for a processor, as a total of the attempt
    TaskUse news;                 // totals that were told since it was heard of last
    double processor_waited = 0;  // as told last
    double memory_waited = 0;
    double input_bytes = 0;  // that it was told to read; 0: not told
    double read_bytes = 0;   // as told last
    LongestGroup longest_group;
  };

  static AttemptId IdIn(const Key& key);
  std::string NameOf(Host host) const;
  double SecondsOf(absl::Time at);
  double InstantOf(JobRecord& job, const Event& event, const std::optional<absl::Time>& at);
  JobNumber JobOf(const Event& event);
  JobRecord& AddJob(const std::string& id, const std::string& run_uid, absl::Time since);
  std::optional<Query> QueryOf(JobNumber number, const std::string& name);
  std::optional<Stage> StageOf(JobNumber number, std::uint32_t stage_number);
  Host HostOf(JobRecord& job, const std::string& name, Query query);
  std::vector<std::string> HostsOf(std::span<const Query> queries,
                                   const std::optional<absl::Duration>& last) const;
  void Read(JobNumber number, const AttemptId& id, double input_bytes, double read_bytes);
  void SeeGroups(JobNumber number, const ReduceProfile& profile);
  void Hear(JobNumber number, const AttemptId& id, TaskUse use,
            const std::optional<ProcessorUse>& reducing, const Event& event);
  void Open(JobNumber number, const StageOpened& opened, const Event& event);
  void Close(JobRecord& job, Stage stage);
  void OpenExecutor(JobRecord& job, Source& source, const ExecutorOpened& opened);
  void CloseExecutor(JobRecord& job, Source& source, const ExecutorClosed& closed);
  void Change(JobNumber number, const AttemptChanged& changed, const Event& event);
  void LoseOutput(const JobRecord& job, std::uint32_t stage_number);
  void Start(JobNumber number, const AttemptChanged& changed, const Event& event);
  void End(const Key& key, double at, bool is_good);
  void EndAll(JobNumber number);
  void CloseJob(JobNumber number, double at);
  void Add(const std::optional<Piece>& piece);
  void AddSlotWaits(const std::vector<Piece>& pieces);
  static void KeepWaited(Running& running);
  void Tell(Running& running, double until);
  void Fold(double until);
  bool MakeRoom(const JobRecord* of = nullptr);
  void ForgetJob(JobNumber number);
  void DropForgotten();

  const ClusterLimits limits_;
  std::optional<absl::Time> first_;
  double now_ = 0;
  ClusterRecords records_;
  Attempts attempts_;
  Contention contention_;
  bool is_over_ = false;  // the sums are as large as they may be, and nothing can be forgotten
  bool has_sought_hosts_ = false;  // whose numbers are free, since anything was forgotten
  absl::flat_hash_map<Key, Running> running_;
  std::uint64_t attempts_seen_ = 0;
};

}  // namespace tidemark::blame
