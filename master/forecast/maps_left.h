// Estimates the end of a map phase from the sizes and the pace of its map tasks.
#pragma once

#include <optional>

#include "absl/time/time.h"
#include "master/facts/job_record.h"
#include "master/forecast/dag/application_estimate.h"
#include "master/forecast/durations/fixed_draws.h"

namespace tidemark::model {

struct MapsLeft {
  estimate::Application application;  // the map stage alone
  estimate::Estimate estimate;
};

// Returns the remaining map tasks and when they end. Empty before any map task has ended or
// reported progress, after the last one has ended, and if no end can be computed. Cost: that of
// cost::MapStageBySize() and of estimate::EstimateApplication().
std::optional<MapsLeft> EstimateMaps(const JobRecord& state, absl::Time now,
                                     const cost::FixedDraws& draws);

}  // namespace tidemark::model
