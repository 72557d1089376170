// Which queries of other jobs an answer names, and how much sooner a job would end without one of
// them. Pure.
#pragma once

#include <set>

#include "master/blame/cluster_waits.h"
#include "master/estimate/application_estimate.h"
#include "tidemark/explanation.h"
#include "tidemark/job.h"

namespace tidemark::service {

// Neither those of the job itself nor those that HideCulprits() hides.
std::set<blame::QueryName> NamedCulprits(const Explanation& explanation);

// Wherever it is named. `culprit`: its job now, which takes nothing more than until the upper bound
// of what it is expected to take yet.
void SetSooner(const blame::QueryName& query, const estimate::Range& sooner,
               const Snapshot& culprit, Explanation& explanation);

}  // namespace tidemark::service
