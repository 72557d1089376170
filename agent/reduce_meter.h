// The measurements of a reduce task, written by its thread and read by the background thread
// without locks.
//
// Two small records and a ring. Only the task's thread writes a record. Its version is odd during a
// change, and a reader that sees the version change reads again. All members are atomics with
// release stores and acquire loads (plain moves on x86), so the language guarantees freedom from
// data races without fences.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "agent/group_ring.h"
#include "tidemark/event.h"

namespace tidemark::agent {

// These totals are exact, even if the ring was full.
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

  // Returns the totals. Spins during a write, which takes some nanoseconds.
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

// The key group in progress.
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

  // Returns nullopt between key groups, and while one begins or ends.
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
  // The background thread sets it to true to end the current burst, so that a burst of slow key
  // groups appears within a flush interval.
  std::atomic<bool> close_burst{false};
  GroupRing ring;
};

}  // namespace tidemark::agent
