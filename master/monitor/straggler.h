// Which reduce task will end last, and why, in words.
#pragma once

#include <optional>

#include "absl/time/time.h"
#include "master/facts/job_record.h"
#include "master/forecast/progress_indicator.h"
#include "tidemark/job.h"

namespace tidemark::model {

// Empty when the forecast has no view per task or every task has ended.
std::optional<NamedTask> FindStraggler(const JobRecord& state, const ReducePhaseForecast& forecast,
                                       absl::Time now);

}  // namespace tidemark::model
