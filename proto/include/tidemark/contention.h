// The contention of all jobs of a cluster. It shows which queries delayed others, which were
// delayed, and on which resources and hosts. Each list answers one question that an administrator
// may have.
//
// Seconds are delays of the ends of queries, as in explanation.h, summed over the delayed queries.
// A share is a fraction of the sum of all such seconds. A responsibility is the degree of
// responsibility of [PX] 4.1.3, summed over the delayed queries. A responsibility of 1 corresponds
// to all waits of one query.
//
//   const auto contention = client->ExplainCluster({.last = absl::Minutes(5)});
//   for (const tidemark::ContentionList& list : contention->lists) {
//     if (list.kind != tidemark::ContentionKind::kCausingQueries) continue;
//     for (const auto& row : list.rows) Print(row.cause->job_id, row.seconds->value);
//   }
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
#include "tidemark/wait_reason.h"

namespace tidemark {

// The question that a list answers. The first seven are the levels of the graph of [PX], from the
// delayed queries to their causes. Each value equals that of v1::ContentionListKind minus one.
enum class ContentionKind : std::uint8_t {
  // Level 0: which query is delayed most?
  kDelayedQueries,
  // Level 1: which stage of the query is delayed most?
  kDelayedStages,
  // Level 2: for which resource does a stage wait?
  kStageWaits,
  // Level 3: on which host does a stage wait for a resource?
  kStageHosts,
  // Level 4: which stage of another query used the resource? A row is one path through the graph.
  kPaths,
  // Level 5: which stage delays other stages most?
  kCausingStages,
  // Level 6: which query delays other queries most?
  kCausingQueries,
  // Which host is slow for all queries?
  kHosts,
  // Which resource is scarce?
  kResources,
  // Which resource is scarce on which host?
  kPlaces,
};
// The number of kinds, for arrays.
inline constexpr std::size_t kContentionKindCount = 10;

// A query, or one of its stages.
struct ContentionParty {
  // Empty for jobs that the caller may not read or that are no longer tracked.
  std::string job_id;
  // Empty if the job does not name its queries or is hidden.
  std::string query;
  // Number of jobs behind an empty job_id. 0 if the resource was used, but no task reported the
  // use.
  std::uint32_t jobs = 1;
  // Number of the stage within its job. Unset for a query and for a hidden job.
  std::optional<std::uint32_t> stage;
  friend auto operator<=>(const ContentionParty&, const ContentionParty&) = default;
};

// A value with bounds: lower <= value <= upper.
struct LimitedAmount {
  double value = 0;
  double lower = 0;
  double upper = 0;
  friend bool operator==(const LimitedAmount&, const LimitedAmount&) = default;
};

// One row of a list. The kind of the list determines which parts are set.
struct ContentionRow {
  // The query or stage that waited.
  std::optional<ContentionParty> delayed;
  // The query or stage that used the resource.
  std::optional<ContentionParty> cause;
  // The resource for which `delayed` waited. Unset if the list has no resources.
  std::optional<WaitReason> resource;
  // Empty for slots and if the list has no hosts.
  std::string host;
  // The delay, and its fraction of the sum of all delays. Unset in lists of stages.
  std::optional<LimitedAmount> seconds;
  std::optional<LimitedAmount> share;
  // Degree of responsibility. Waits without a visible cause have none, so a sum over causes may be
  // less than the number of delayed queries.
  double responsibility = 0;
  // For a host or resource, its degree of impact ([PX] 4.2.3), summed over the delayed stages. 0 in
  // other lists.
  // The waits of a stage for a resource have a total impact of 1. It is divided among hosts in
  // proportion to the seconds that a unit took there.
  double impact = 0;
  // Number of queries that waited.
  std::uint32_t queries = 0;
  friend bool operator==(const ContentionRow&, const ContentionRow&) = default;
};

// One list of the answer.
struct ContentionList {
  // The question that the list answers.
  ContentionKind kind = ContentionKind::kDelayedQueries;
  // Sorted by seconds or, in lists of stages, by responsibility, in descending order.
  std::vector<ContentionRow> rows;
  // Number of rows omitted because of the limit in the question.
  std::uint32_t left_out = 0;
  friend bool operator==(const ContentionList&, const ContentionList&) = default;
};

// The answer to a ContentionQuestion. It covers each pair of a delayed and a causing query of which
// the caller may read at least one.
struct ClusterContention {
  // The covered time range, by the master's clock.
  absl::Time at = absl::InfinitePast();
  absl::Time since = absl::InfiniteFuture();
  // True if a job was running before `since` or exceeded the master's limits.
  bool is_partial = false;
  // Number of visible jobs.
  std::uint32_t jobs = 0;
  // In the order of ContentionKind. A list without rows is omitted.
  std::vector<ContentionList> lists;
  friend bool operator==(const ClusterContention&, const ClusterContention&) = default;
};

// A question about the contention of a cluster. Empty fields do not restrict the answer.
struct ContentionQuestion {
  // If set, only delays of this job and, if `query` is also set, only of this query of the job.
  std::string job_id;
  std::string query;
  std::optional<WaitReason> resource;
  // If set, only waits on this host. Waits for slots have no host and are excluded.
  std::string host;
  // If set, only waits within this most recent time, in whole minutes.
  std::optional<absl::Duration> last;
  // Maximum number of rows of each list.
  std::size_t rows_max = 5;
  friend bool operator==(const ContentionQuestion&, const ContentionQuestion&) = default;
};

}  // namespace tidemark
