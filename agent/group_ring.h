// Passes finished key groups from the task's thread to the background thread.
//
// A single-producer single-consumer ring without locks. Write() adds key groups to the current
// unit: one burst, or one large key group. Publish() sets the duration of the unit and makes the
// whole unit visible to the consumer. If the unit did not fit, Publish() drops it. Units are never
// split, so points keep their true durations.
//
// The last key group of a unit carries the duration; the others carry kTimedWithNext.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "tidemark/event.h"

namespace tidemark::agent {

struct FinishedGroup {
  static constexpr std::int64_t kTimedWithNext = -1;
  KeyHash key;
  std::uint64_t size_bytes;
  std::uint64_t emitted_bytes;
  std::int64_t nanos;
};

class GroupRing {
 public:
  // Takes 2 MiB, of which the kernel allocates only written pages. At full speed, the smallest key
  // groups fill it in 3 ms. The consumer is woken when a quarter is full.
  static constexpr std::size_t kCapacity = std::size_t{1} << 16;

  GroupRing() : groups_(new FinishedGroup[kCapacity]) {}

  // --- Producer ---

  // Adds a key group to the current unit.
  void Write(KeyHash key, std::uint64_t size_bytes, std::uint64_t emitted_bytes) {
    if (write_ - freed_seen_ == kCapacity && !HasRoom()) {
      overflown_ = true;
      return;
    }
    groups_[write_ % kCapacity] = {key, size_bytes, emitted_bytes, FinishedGroup::kTimedWithNext};
    ++write_;
  }

  // Returns true if the current unit fits. If not, Publish() drops it.
  bool unit_fits() const { return !overflown_; }

  // Ends the unit.
  void Publish(std::int64_t nanos) {
    const std::uint64_t first = published_.load(std::memory_order_relaxed);
    if (overflown_) {
      write_ = first;
      overflown_ = false;
    }
    if (write_ == first) return;
    groups_[(write_ - 1) % kCapacity].nanos = std::max<std::int64_t>(0, nanos);
    published_.store(write_, std::memory_order_release);
  }

  // Returns true once for each quarter that has filled up since the consumer last emptied the ring.
  bool ShouldWakeConsumer() {
    if (write_ - freed_seen_ < kCapacity / 4) return false;
    freed_seen_ = freed_.load(std::memory_order_acquire);
    if (write_ - freed_seen_ < kCapacity / 4 || woken_at_ == freed_seen_ + 1) return false;
    woken_at_ = freed_seen_ + 1;
    return true;
  }

  // --- Consumer ---

  // Calls take(const FinishedGroup&) for each published key group, oldest first.
  template <typename Take>
  void Drain(Take take) {
    const std::uint64_t end = published_.load(std::memory_order_acquire);
    std::uint64_t next = freed_.load(std::memory_order_relaxed);
    while (next != end) {
      // Frees space in small steps, since the producer may fill it at the same rate.
      const std::uint64_t stop = std::min<std::uint64_t>(end, next + kCapacity / 16);
      for (; next != stop; ++next) take(groups_[next % kCapacity]);
      freed_.store(next, std::memory_order_release);
    }
  }

 private:
  bool HasRoom() {
    freed_seen_ = freed_.load(std::memory_order_acquire);
    return write_ - freed_seen_ < kCapacity;
  }

  const std::unique_ptr<FinishedGroup[]> groups_;
  // The producer owns these members.
  // Number of groups written. Groups [published_, write_) form the current unit.
  alignas(64) std::uint64_t write_ = 0;
  std::uint64_t freed_seen_ = 0;                         // the last known value of freed_
  std::uint64_t woken_at_ = 0;                           // freed_ + 1 at the last wake-up
  bool overflown_ = false;                               // the current unit overflowed the ring
  alignas(64) std::atomic<std::uint64_t> published_{0};  // written by the producer
  alignas(64) std::atomic<std::uint64_t> freed_{0};      // written by the consumer
};

}  // namespace tidemark::agent
