// What the queries of an application waited for, and because of which others: what blame
// (docs/blame.md) makes of events. A query is a group of stages: a SQL execution, or a job outside
// of any. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "master/blame/attempts.h"
#include "master/blame/contention.h"
#include "master/blame/resource.h"
#include "master/blame/stage.h"
#include "tidemark/event.h"

namespace tidemark::blame {

// Seconds by which the query ended later: of stages that followed one another, never of two at
// once.
struct Culprit {
  std::string query;
  Resource resource = Resource::kScheduler;
  std::string host;  // empty: slots, which are not of one host
  double seconds = 0;
  friend bool operator==(const Culprit&, const Culprit&) = default;
};

struct QueryWait {
  std::optional<double> seconds;  // empty: not told
  bool is_least = false;          // some tasks did not tell
};

struct QueryWaits {
  std::string query;
  std::optional<double> seconds;  // from its start to its end, or as far as the events go
  // Slots: only what others held, while no slot was free. The rest: whoever caused it.
  PerResource<QueryWait> waits;
  std::vector<Culprit> culprits;  // other queries, the worst first
};

struct WaitsQuestion {
  std::string query;  // empty: all
  std::optional<Resource> resource;
  std::string host;  // empty: all, and slots
  std::size_t culprits_max = 3;
};

// Memory: that of Contention, and O(queries + stages + hosts + tasks that run). Not thread-safe.
class RunWaits {
 public:
  // Of one source, in order. What contradicts what was told before is left out.
  void Apply(const Event& event);
  // What still runs, ran until the last event. Nothing is applied afterwards.
  void Finish();

  // In the order in which they began. Empty: there is none of that name, or none ran tasks.
  std::vector<QueryWaits> Ask(const WaitsQuestion& question) const;

 private:
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  struct QueryRecord {
    std::string name;
    std::optional<double> from;
    std::optional<double> to;
  };
  struct StageRecord {
    bool has_query = false;
    std::uint32_t attempt = 0;
    std::optional<double> opened_at;  // this attempt
    bool is_open = false;
    bool has_started = false;
    double full_seconds = 0;  // that it waited while no slot was free, before its first task
  };
  struct Executor {
    std::string host;
    std::uint32_t slots = 0;
  };
  struct Running {
    Attempt attempt{};
    double from = 0;
    TaskUse totals;
  };
  struct Span {
    double from = 0;
    double to = 0;
  };

  double SecondsOf(absl::Time at);
  Query QueryOf(const std::string& name);
  Stage StageOf(std::uint32_t number);
  Host HostOf(const std::string& name);
  void Open(const StageOpened& opened);
  void Open(const GroupOpened& opened);
  void Change(const AttemptChanged& changed);
  void Start(const AttemptChanged& changed, double at);
  void End(const Key& key, double at);
  void Add(const std::optional<Piece>& piece);
  void SeeFullness();
  void Fold();
  struct Sums;
  void AddStage(const Ledger& ledger, Stage stage, const WaitsQuestion& question, Sums& sums) const;

  std::optional<absl::Time> first_;
  double now_ = 0;
  Attempts attempts_;
  Contention contention_;
  std::vector<QueryRecord> queries_;
  std::map<std::string, Query> query_by_name_;
  std::vector<StageInfo> stages_;
  std::vector<StageRecord> records_;
  std::map<std::uint32_t, Stage> stage_by_number_;
  std::vector<std::string> hosts_;
  std::map<std::string, Host> host_by_name_;
  std::map<std::uint32_t, Executor> executors_;
  std::uint64_t slots_ = 0;
  bool slots_told_ = false;
  absl::flat_hash_map<Key, Running> running_;
  std::uint64_t attempts_seen_ = 0;
  std::deque<Span> full_;  // when no slot was free
  std::optional<double> full_from_;
};

}  // namespace tidemark::blame
