// The rates of [PX] 3.3 and 3.4. Nothing here is infinite or divides by zero.
#pragma once

#include <optional>

#include "master/waits/ledger.h"

namespace tidemark::blame {

// Eq. 1 and 6, RATP: seconds of waiting for a unit of a resource, wait / units, of a task or of the
// tasks of a stage on a host. Empty: not known, or there was a wait and nothing was asked for,
// which would be infinite. Zero: no wait.
std::optional<double> SecondsPerUnit(const Waited& waited);

// FC of 3.4: seconds of overlap, summed over pairs of tasks, for each second of the target's tasks
// on the host. Above 1 where several tasks of the source are there at once. Without seconds: 0.
double FractionalConcurrency(double overlap_seconds, double target_seconds);

// A source that waits for nothing would bear infinitely more blame than one that does.
inline constexpr double kRateRatioMax = 100;  // taste

// Eq. 2 and 7: blame = FC x (seconds per unit of the target / of the source), the ratio at most
// kRateRatioMax. Empty: one of the rates is not known, so that nothing can be said. Zero where the
// target does not wait, or they do not overlap.
std::optional<double> Blame(double fractional_concurrency, const Waited& target,
                            const Waited& source);

}  // namespace tidemark::blame
