// What a query waited for, and because of which others: from the sums of blame to an answer.
#pragma once

#include <map>
#include <optional>

#include "absl/time/time.h"
#include "master/waits/cluster_records.h"
#include "master/waits/contention.h"
#include "master/waits/without.h"
#include "tidemark/explanation.h"

namespace tidemark::blame {

// All that caused a wait is in it, whoever may see it. Empty: no task of it is in the sums, and
// none waits. `now`: until then a query lasts that has not ended. Cost: O(what its stages met).
std::optional<QueryWaits> ExplainQuery(const ClusterRecords& records, const Contention& contention,
                                       Query query, const ExplainQuestion& question, double now);

struct Cost {
  double seconds = 0;
  Limits limits;
  Cost& operator+=(const Cost& more) {
    seconds += more.seconds;
    limits.lower += more.limits.lower;
    limits.upper += more.limits.upper;
    return *this;
  }
};

// By how much later a job ended because of each other query, for all that it took but slots: as
// those of a query, of all stages of the job that followed one another. Cost: O(what its stages
// met).
std::map<Query, Cost> CostsToJob(const ClusterRecords& records, const Contention& contention,
                                 JobNumber job, const std::optional<absl::Duration>& last);

// Seconds of tasks.
struct StageLosses {
  double ran = 0;                // of the stage, on hosts
  std::map<Query, Cost> others;  // what other queries took of that, but for slots
};

// `last`: only what was in so much time, in minutes; empty: all. Cost: O(what the stage met).
StageLosses LossesOf(const ClusterRecords& records, const Contention& contention, Stage stage,
                     const std::optional<absl::Duration>& last);

}  // namespace tidemark::blame
