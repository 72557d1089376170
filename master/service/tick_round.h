// Which of the jobs that are due are estimated in one round, so that no job waits for many others.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/time/time.h"

namespace tidemark::service {

struct DueJob {
  absl::Duration cost;  // CPU time of its last estimate
  absl::Time ticked_at;
};

// An estimate that takes longer is one of a heavy job. Taste: a quarter of the shortest tick.
inline constexpr absl::Duration kHeavyEstimate = absl::Milliseconds(50);

// Positions in `due`: all that are not heavy, cheap ones first, then of the heavy ones the one that
// has waited longest. So a job that is not heavy waits for one heavy estimate at most, however many
// there are. O(n log n).
std::vector<std::size_t> TickRound(const std::vector<DueJob>& due);

}  // namespace tidemark::service
