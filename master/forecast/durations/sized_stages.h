// The map tasks of a job that are left, and the reduce tasks of one that shows no key groups, and
// what they take by their sizes.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "master/facts/job_record.h"
#include "master/forecast/durations/fixed_draws.h"
#include "master/forecast/durations/task_times.h"

namespace tidemark::cost {

struct SizedStage {
  StageLeft stage;
  std::vector<std::size_t> tasks;  // indexes, in the order of the stage's tasks
};

// Empty: no map task has ended or told of progress. O(map tasks log map tasks).
std::optional<SizedStage> MapStageBySize(const model::JobRecord& state, absl::Time now,
                                         const FixedDraws& draws);

// Empty: no reduce task has ended, or none is left. O(reduce tasks log reduce tasks).
std::optional<SizedStage> ReduceStageBySize(const model::JobRecord& state, absl::Time now,
                                            double shuffle_seconds_per_byte,
                                            const FixedDraws& draws);

}  // namespace tidemark::cost
