// Converts the sums of Contention to the answer to an ExplainQuestion: the waits of a query, and
// the queries that caused them.
#pragma once

#include <map>
#include <optional>

#include "absl/time/time.h"
#include "master/waits/cluster_records.h"
#include "master/waits/contention.h"
#include "master/waits/delay.h"
#include "tidemark/explanation.h"

namespace tidemark::waits {

// Returns all causes of waits, regardless of read permissions. Returns nullopt if none of the
// query's tasks is in the sums and none waits. A query that has not ended lasts until `now`.
// O(meetings of its stages).
std::optional<QueryWaits> ExplainQuery(const ClusterRecords& records, const Contention& contention,
                                       Query query, const ExplainQuestion& question, double now);

// Keeps the worst of the contending queries that question.because_of names. Must be called after
// hidden queries are merged, so that a hidden name matches no query. Pure.
void SelectCauses(const ExplainQuestion& question, Explanation& explanation);

// Seconds that were lost to a query.
struct LostSeconds {
  double seconds = 0;
  Limits limits;
  LostSeconds& operator+=(const LostSeconds& more) {
    seconds += more.seconds;
    limits.lower += more.limits.lower;
    limits.upper += more.limits.upper;
    return *this;
  }
};

// Returns the delay of a job by each other query, for all resources except slots. Consecutive
// stages of the job are added up. O(meetings of its stages).
std::map<Query, LostSeconds> CostsToJob(const ClusterRecords& records, const Contention& contention,
                                        JobNumber job, const std::optional<absl::Duration>& last);

// Losses of a stage, in task seconds.
struct StageLosses {
  double ran = 0;                       // time of the stage's tasks, on hosts
  std::map<Query, LostSeconds> others;  // time lost to each other query, except for slots
};

// Covers the most recent time `last`, in whole minutes, or all time if unset. O(meetings of the
// stage).
StageLosses LossesOf(const ClusterRecords& records, const Contention& contention, Stage stage,
                     const std::optional<absl::Duration>& last);

}  // namespace tidemark::waits
