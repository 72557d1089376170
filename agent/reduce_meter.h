// The measurements of a reduce task. The task's thread writes them, and the background thread reads
// them without locks.
//
// They consist of two small records and a ring. Only the task's thread writes a record. The version
// is odd during a change, and a reader that sees the version change reads again. All members are
// atomics with release stores and acquire loads (plain moves on x86), so there are no data races
// and no fences.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "tidemark/event.h"

namespace tidemark::agent {

// Passes finished key groups from the task's thread to the background thread.
//
// A single-producer single-consumer ring without locks. Write() adds key groups to the current
// unit, which is a burst or one large key group. Publish() sets the duration of the unit and makes
// the whole unit visible to the consumer. If the unit did not fit, Publish() drops it. Units are
// never split, so points keep their true durations.
//
// The last key group of a unit carries the duration. The other key groups carry kTimedWithNext.
struct FinishedGroup {
  static constexpr std::int64_t kTimedWithNext = -1;
  KeyHash key;
  std::uint64_t size_bytes;
  std::uint64_t emitted_bytes;
  std::int64_t nanos;
};

class GroupRing {
 public:
  // Number of key groups. The ring takes 2 MiB, of which the kernel allocates only written pages.
  // At full speed, the smallest key groups fill the ring in 3 ms, so the consumer is woken when a
  // quarter is full.
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

  // Returns true if the current unit fits. Otherwise Publish() drops the unit.
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
  //
  // Number of groups written. Groups [published_, write_) form the current unit.
  alignas(64) std::uint64_t write_ = 0;
  std::uint64_t freed_seen_ = 0;                         // the last known value of freed_
  std::uint64_t woken_at_ = 0;                           // freed_ + 1 at the last wake-up
  bool overflown_ = false;                               // the current unit overflowed the ring
  alignas(64) std::atomic<std::uint64_t> published_{0};  // written by the producer
  alignas(64) std::atomic<std::uint64_t> freed_{0};      // written by the consumer
};

// Totals, which are exact even if the ring was full.
struct ReduceTotals {
  std::uint64_t groups_done = 0;
  std::uint64_t bytes_done = 0;
  std::int64_t nanos = 0;
  std::int64_t last_end_nanos = 0;  // monotonic; 0 if none has finished
  std::uint64_t dropped_points = 0;
};

class TotalsCell {
 public:
  void Write(const ReduceTotals& totals) {
    const std::uint64_t version = version_.load(std::memory_order_relaxed);
    version_.store(version + 1, std::memory_order_relaxed);
    groups_done_.store(totals.groups_done, std::memory_order_release);
    bytes_done_.store(totals.bytes_done, std::memory_order_release);
    nanos_.store(totals.nanos, std::memory_order_release);
    last_end_nanos_.store(totals.last_end_nanos, std::memory_order_release);
    dropped_points_.store(totals.dropped_points, std::memory_order_release);
    version_.store(version + 2, std::memory_order_release);
  }

  // Returns the totals. Spins during a write, which takes a few nanoseconds.
  ReduceTotals Read() const {
    while (true) {
      const std::uint64_t before = version_.load(std::memory_order_acquire);
      ReduceTotals totals;
      totals.groups_done = groups_done_.load(std::memory_order_acquire);
      totals.bytes_done = bytes_done_.load(std::memory_order_acquire);
      totals.nanos = nanos_.load(std::memory_order_acquire);
      totals.last_end_nanos = last_end_nanos_.load(std::memory_order_acquire);
      totals.dropped_points = dropped_points_.load(std::memory_order_acquire);
      if (before % 2 == 0 && version_.load(std::memory_order_relaxed) == before) return totals;
    }
  }

 private:
  std::atomic<std::uint64_t> version_{0};
  std::atomic<std::uint64_t> groups_done_{0};
  std::atomic<std::uint64_t> bytes_done_{0};
  std::atomic<std::int64_t> nanos_{0};
  std::atomic<std::int64_t> last_end_nanos_{0};
  std::atomic<std::uint64_t> dropped_points_{0};
};

struct GroupInProgress {
  KeyHash key{};
  std::int64_t start_nanos = 0;  // monotonic; the start of the burst while the group is small
  std::uint64_t bytes_read = 0;
  std::uint64_t values_read = 0;
  std::uint64_t bytes_emitted = 0;
};

class RunningCell {
 public:
  void Begin(KeyHash key, std::int64_t start_nanos) {
    key_.store(static_cast<std::uint64_t>(key), std::memory_order_release);
    start_nanos_.store(start_nanos, std::memory_order_release);
    bytes_read_.store(0, std::memory_order_release);
    values_read_.store(0, std::memory_order_release);
    bytes_emitted_.store(0, std::memory_order_release);
    Bump();
  }
  void MoveStart(std::int64_t nanos) { start_nanos_.store(nanos, std::memory_order_release); }
  void AddRead(std::uint64_t bytes) {
    Add(bytes_read_, bytes);
    Add(values_read_, 1);
  }
  void AddEmitted(std::uint64_t bytes) { Add(bytes_emitted_, bytes); }
  std::uint64_t bytes_read() const { return bytes_read_.load(std::memory_order_relaxed); }
  std::uint64_t bytes_emitted() const { return bytes_emitted_.load(std::memory_order_relaxed); }
  void End() { Bump(); }

  // Returns nullopt between key groups, and while a group begins or ends.
  std::optional<GroupInProgress> Read() const {
    const std::uint64_t before = version_.load(std::memory_order_acquire);
    if (before % 2 == 0) return std::nullopt;
    GroupInProgress group;
    group.key = KeyHash{key_.load(std::memory_order_acquire)};
    group.start_nanos = start_nanos_.load(std::memory_order_acquire);
    group.bytes_read = bytes_read_.load(std::memory_order_acquire);
    group.values_read = values_read_.load(std::memory_order_acquire);
    group.bytes_emitted = bytes_emitted_.load(std::memory_order_acquire);
    if (version_.load(std::memory_order_relaxed) != before) return std::nullopt;
    return group;
  }

 private:
  // Only one thread writes, so an atomic read-modify-write is not needed.
  static void Add(std::atomic<std::uint64_t>& counter, std::uint64_t more) {
    counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  void Bump() {
    version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  std::atomic<std::uint64_t> version_{0};  // odd while a key group is in progress
  std::atomic<std::uint64_t> key_{0};
  std::atomic<std::int64_t> start_nanos_{0};
  std::atomic<std::uint64_t> bytes_read_{0};
  std::atomic<std::uint64_t> values_read_{0};
  std::atomic<std::uint64_t> bytes_emitted_{0};
};

struct ReduceMeter {
  alignas(64) RunningCell running;
  alignas(64) TotalsCell totals;
  alignas(64) std::atomic<std::uint64_t> bytes_fetched{0};
  std::atomic<int> thread{0};  // ThisThread() of the task, or 0 if unknown
  // The background thread sets this flag to end the current burst, so that a burst of slow key
  // groups is reported within a flush interval.
  std::atomic<bool> close_burst{false};
  GroupRing ring;
};

}  // namespace tidemark::agent
