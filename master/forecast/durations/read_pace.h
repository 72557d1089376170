// The end of the reduce phase as the bytes its functions have read let expect it, while none of
// them has finished a key group.
//
// With f the part of all reduce input that is read after a time T of the phase, T (1 - f) / f is
// left, log-normal. Key groups of one job cost up to many times as much by the byte as each other,
// and a function may read first and work later: a deviation of 1 holds what is left within a factor
// of five.
//
// Pure function, thread-safe. Cost: O(reduce tasks).
#pragma once

#include <optional>

#include "absl/time/time.h"
#include "master/facts/job_record.h"
#include "master/forecast/durations/fixed_draws.h"
#include "master/forecast/durations/task_times.h"

namespace tidemark::cost {

// Seconds until the phase ends, by draw. Empty before the reduce phase and before anything is read
// in it, when all is, and while all that have begun are cold.
std::optional<Draws> SecondsByBytesRead(const model::JobRecord& state, absl::Time now,
                                        const FixedDraws& draws);

}  // namespace tidemark::cost
