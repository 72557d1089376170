// Greedy list scheduling: the next task, in order, goes to the slot that is free first.
//
// The rule that NearestFit simulates to find when unscheduled reduce tasks will start ([NF] 3.6),
// and a fair model of slot-based schedulers. Ties go to the slot of least index, so the result is
// deterministic.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "absl/time/time.h"

namespace tidemark::schedule {

struct ScheduledTask {
  std::size_t slot = 0;  // index into slots_free_at
  absl::Time starts_at;
  absl::Time ends_at;
  friend bool operator==(const ScheduledTask&, const ScheduledTask&) = default;
};

// Negative durations count as zero. No slots: every task starts and ends at InfiniteFuture().
// Cost: O((tasks + slots) log slots).
std::vector<ScheduledTask> ScheduleGreedily(std::span<const absl::Time> slots_free_at,
                                            std::span<const absl::Duration> durations);

// Adds slots that are free at `now` up to `slots` in all, but none that `tasks` could not use: a
// number of slots from outside must not decide how much is allocated.
void AddFreeSlots(std::size_t slots, std::size_t tasks, absl::Time now,
                  std::vector<absl::Time>& slots_free_at);

}  // namespace tidemark::schedule
