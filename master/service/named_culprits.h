// Which queries of other jobs an answer names, and how much sooner a job would end, or would have
// ended, without one of them. Pure.
#pragma once

#include <set>

#include "master/forecast/dag/application_estimate.h"
#include "master/waits/cluster_waits.h"
#include "tidemark/explanation.h"
#include "tidemark/job.h"

namespace tidemark::service {

// Neither those of the job itself nor those that HideCulprits() hides.
std::set<blame::QueryName> NamedCulprits(const Explanation& explanation);

// No more than the upper bound of the time that the culprit's job is expected to have left: it
// takes nothing afterwards.
estimate::Range WithinTimeLeft(const estimate::Range& sooner, const Snapshot& culprit);

// Wherever it is named.
void SetSooner(const blame::QueryName& query, const estimate::Range& sooner,
               Explanation& explanation);

}  // namespace tidemark::service
