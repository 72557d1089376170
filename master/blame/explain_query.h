// What a query waited for, and because of which others: from the sums of blame to an answer.
#pragma once

#include <optional>

#include "master/blame/cluster_records.h"
#include "master/blame/contention.h"
#include "tidemark/explanation.h"

namespace tidemark::blame {

// All that caused a wait is in it, whoever may see it. Empty: no task of it is in the sums, and
// none waits. `now`: until then a query lasts that has not ended. Cost: O(what its stages met).
std::optional<QueryWaits> ExplainQuery(const ClusterRecords& records, const Contention& contention,
                                       Query query, const ExplainQuestion& question, double now);

}  // namespace tidemark::blame
