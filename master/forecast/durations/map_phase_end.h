// The forecast of the end of the map phase.
#pragma once

#include <optional>

#include "absl/time/time.h"
#include "master/facts/job_record.h"

namespace tidemark::model {

// Returns the end of the map phase if it is over. Otherwise forecasts it: the remaining input of
// every map task at the mean seconds per byte so far (per task where sizes are unknown), placed
// greedily on the map slots. Empty before any map task has read anything.
std::optional<absl::Time> MapPhaseEnd(const JobRecord& state, absl::Time now);

}  // namespace tidemark::model
