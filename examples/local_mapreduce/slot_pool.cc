#include "examples/local_mapreduce/slot_pool.h"

#include <utility>

namespace tidemark::examples {

SlotPool::SlotPool(std::size_t jobs, std::uint32_t slots, SlotPolicy policy)
    : policy_(policy), free_(slots), waiting_(jobs), taken_(jobs) {}

void SlotPool::SetWaiting(std::size_t job, std::size_t tasks) {
  const std::lock_guard lock(mutex_);
  waiting_[job] = tasks;
}

bool SlotPool::IsBefore(std::size_t other, std::size_t job) const {
  if (other == job || waiting_[other] == 0) return false;
  if (policy_ == SlotPolicy::kFifo) return other < job;
  return std::pair(taken_[other], other) < std::pair(taken_[job], job);
}

bool SlotPool::TryTake(std::size_t job) {
  const std::lock_guard lock(mutex_);
  // Earlier jobs that wait for a slot reserve as many free slots as they can use.
  std::size_t kept = 0;
  for (std::size_t other = 0; other < waiting_.size(); ++other) {
    if (IsBefore(other, job)) kept += policy_ == SlotPolicy::kFifo ? waiting_[other] : 1;
  }
  if (free_ <= kept) return false;
  --free_;
  ++taken_[job];
  if (waiting_[job] > 0) --waiting_[job];
  return true;
}

void SlotPool::Give(std::size_t job) {
  const std::lock_guard lock(mutex_);
  ++free_;
  --taken_[job];
}

}  // namespace tidemark::examples
