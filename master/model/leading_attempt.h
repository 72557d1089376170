// Which attempt of a task counts as its progress.
#pragma once

#include "master/model/job_state.h"

namespace tidemark::model {

// The running attempt that has read most; null when none runs. Cost: O(attempts).
const MapAttempt* LeadingAttempt(const MapTask& task);
const ReduceAttempt* LeadingAttempt(const ReduceTask& task);

}  // namespace tidemark::model
