// Simulates greedy list scheduling, in which the next task in order gets the slot that becomes free
// first.
//
// NearestFit uses this rule to find the starts of unscheduled reduce tasks ([NF] 3.6). It is also a
// realistic model of slot-based schedulers. Ties go to the slot with the lower index, so that the
// result is deterministic.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "absl/time/time.h"

namespace tidemark::placement {

struct ScheduledTask {
  std::size_t slot = 0;  // index into slots_free_at
  absl::Time starts_at;
  absl::Time ends_at;
  friend bool operator==(const ScheduledTask&, const ScheduledTask&) = default;
};

// Returns the schedule. Negative durations count as zero. If there are no slots, every task starts
// and ends at InfiniteFuture(). O((tasks + slots) log slots).
std::vector<ScheduledTask> ScheduleGreedily(std::span<const absl::Time> slots_free_at,
                                            std::span<const absl::Duration> durations);

// Adds free slots up to a total of `slots`, but at most one per task, so that an untrusted number
// cannot determine how much memory is allocated.
void AddFreeSlots(std::size_t slots, std::size_t tasks, absl::Time now,
                  std::vector<absl::Time>& slots_free_at);

}  // namespace tidemark::placement
