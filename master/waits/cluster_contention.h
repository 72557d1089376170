// Sums the waits of all jobs into the lists of ClusterContention. The lists answer Algorithms 1 to
// 4 and the questions of [PX] 4.2 with all queries as targets. They also contain the seconds of
// `tidemark why`.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "master/waits/cluster_records.h"
#include "master/waits/contention.h"
#include "master/waits/explain_query.h"
#include "master/waits/proto_graph.h"
#include "tidemark/contention.h"
#include "tidemark/explanation.h"

namespace tidemark::waits {

// The graph of the queries of one job, with its own stage numbers.
struct JobGraph {
  ProtoGraph graph;
  std::vector<Stage> stages;  // the numbers in ClusterRecords
};

// Returns the graph whose targets are the queries of the job, or only `query`. The graph is empty
// if the job has no stages. Parents that form a cycle are ignored. `last_seconds` selects the most
// recent time; if unset, all time counts. O(m log n) for m stages and meetings of the job, and n in
// total.
JobGraph GraphOf(const ClusterRecords& records, const Contention& contention, JobNumber job,
                 const std::string& query, const std::optional<double>& last_seconds);

// Covers each pair of a delayed and a causing query of which the reader may see at least one. A
// hidden query is merged with the queries of other hidden jobs.
//
// Memory: O(queries + hosts + delays of visible queries). Not thread-safe. Deterministic in the
// order of calls.
class ContentionSums {
 public:
  using MayRead = std::function<bool(const std::string& job_id)>;

  // If `wants_graph` is true, rows have responsibilities and impacts, and there are lists of
  // stages.
  ContentionSums(ContentionQuestion question, MayRead may_read, bool wants_graph = true);

  const ContentionQuestion& question() const { return question_; }
  bool wants_graph() const { return wants_graph_; }
  // Returns the question about each job, which requests all causes.
  ExplainQuestion QuestionOfJob() const;
  // Adds one job with its answer to QuestionOfJob() and its graph.
  void Add(const ClusterRecords& records, const Explanation& explanation, const JobGraph& graph);
  // Returns the number of visible jobs so far.
  std::uint32_t jobs() const { return contention_.jobs; }
  // Fails with NotFound if the question names a query or a host that ran no tasks. If `last` is
  // set, an idle host is not an error.
  absl::Status Check() const;
  ClusterContention Finish() &&;

 private:
  // The subject of a row.
  struct Key {
    std::optional<ContentionParty> delayed;
    std::optional<ContentionParty> cause;
    std::optional<WaitReason> resource;
    std::string host;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Sum {
    std::map<std::size_t, PerWaitReason<LostSeconds>> delays;  // by delayed query
    std::set<std::size_t> queries;                             // delayed queries
    std::set<std::string> hidden_jobs;
    double responsibility = 0;
    double impact = 0;
  };
  // The most that a query can have lost: its duration and, for each resource, the wait if it is
  // fully known.
  struct Most {
    double seconds = 0;
    PerWaitReason<double> of;
  };
  // One delay, or one leaf of the graph.
  struct Fact {
    std::size_t query = 0;  // the delayed query
    std::string job_id;     // job of the delayed query
    ContentionParty delayed;
    std::string cause_job_id;  // empty if the cause is unknown
    ContentionParty cause;
    WaitReason resource = WaitReason::kSlots;
    std::string host;
  };
  using Sums = std::map<Key, Sum>;

  bool IsVisible(const std::string& job_id);
  ContentionParty PartyOf(const std::string& job_id, const std::string& query);
  Sum& SumOf(ContentionKind kind, Key key, const Fact& fact);
  void AddDelays(const Explanation& explanation, std::size_t first_query);
  void AddGraph(const ClusterRecords& records, const Explanation& explanation,
                const JobGraph& graph, std::size_t first_query);
  void AddLeaf(const Fact& fact, std::optional<std::uint32_t> delayed_stage,
               std::optional<std::uint32_t> causing_stage, double responsibility);
  LimitedAmount SecondsOf(ContentionKind kind, const Sum& sum) const;
  LimitedAmount TotalOf(ContentionKind kind) const;
  static ContentionRow RowOf(const Key& key, const Sum& sum);
  ContentionList ListOf(ContentionKind kind) const;
  void KeepWorst(ContentionKind kind);

  const ContentionQuestion question_;
  const MayRead may_read_;
  const bool wants_graph_;
  std::map<std::string, bool> visible_;
  ClusterContention contention_;
  std::set<std::string> hosts_;  // hosts of visible jobs, if the question names a host
  std::vector<Most> most_;       // by delayed query
  std::array<Sums, kContentionKindCount> sums_;
  std::array<std::uint32_t, kContentionKindCount> left_out_{};
};

}  // namespace tidemark::waits
