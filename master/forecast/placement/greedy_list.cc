#include "master/forecast/placement/greedy_list.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace tidemark::placement {
namespace {

using FreeSlot = std::pair<absl::Time, std::size_t>;
using EarliestFirst = std::priority_queue<FreeSlot, std::vector<FreeSlot>, std::greater<>>;

EarliestFirst QueueOf(std::span<const absl::Time> slots_free_at) {
  EarliestFirst queue;
  for (std::size_t slot = 0; slot < slots_free_at.size(); ++slot) {
    queue.emplace(slots_free_at[slot], slot);
  }
  return queue;
}

}  // namespace

std::vector<ScheduledTask> ScheduleGreedily(std::span<const absl::Time> slots_free_at,
                                            std::span<const absl::Duration> durations) {
  if (slots_free_at.empty()) {
    return std::vector<ScheduledTask>(
        durations.size(), ScheduledTask{0, absl::InfiniteFuture(), absl::InfiniteFuture()});
  }
  EarliestFirst slots = QueueOf(slots_free_at);
  std::vector<ScheduledTask> schedule;
  schedule.reserve(durations.size());
  for (const absl::Duration duration : durations) {
    const auto [free_at, slot] = slots.top();
    slots.pop();
    const absl::Time ends_at = free_at + std::max(duration, absl::ZeroDuration());
    schedule.push_back({slot, free_at, ends_at});
    slots.emplace(ends_at, slot);
  }
  return schedule;
}

void AddFreeSlots(std::size_t slots, std::size_t tasks, absl::Time now,
                  std::vector<absl::Time>& slots_free_at) {
  const std::size_t taken = slots_free_at.size();
  if (slots > taken) slots_free_at.resize(taken + std::min(slots - taken, tasks), now);
}

}  // namespace tidemark::placement
