// A hash table of counters that keeps them in the order of their hashes.
//
// Each key has a place, a number its hash is mixed into; its counter stands at or after slot
// place / 2^64 * slots, and counters further on have larger places. A look-up stops at the first
// place that is not smaller, and a sweep (Retain) or a move to a larger table reads and writes
// slots from front to back without a branch that could be mispredicted, which is what it is made
// for: counters are dropped thousands at a time, never one by one.
//
// Cost: Find and Insert O(1) expected, Retain and Reserve O(slots). Memory: 3/2 slots for each of
// the counters reserved, sizeof(Counter) each. Not thread-safe. A sender cannot choose hashes that
// pile up: how they are mixed differs from process to process. So does the order of slots; nothing
// that leaves the process may depend on it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "absl/hash/hash.h"
#include "tidemark/event.h"

namespace tidemark::streaming {

template <typename Note>
class CounterTable {
 public:
  struct Counter {
    std::uint64_t place = kLastPlace;
    std::uint64_t count_bytes = 0;  // 0: the slot is free
    std::uint64_t error_bytes = 0;
    [[no_unique_address]] Note note{};
  };
  static_assert(std::is_trivially_copyable_v<Note>);

  CounterTable() { Reserve(1); }

  std::size_t size() const { return size_; }
  // Counters that fit before the next Reserve().
  std::size_t reserved() const { return reserved_; }

  std::uint64_t PlaceOf(KeyHash key) const {
    std::uint64_t mixed = (static_cast<std::uint64_t>(key) ^ seed_) * kFirstFactor;
    mixed ^= mixed >> 32;
    return mixed * kSecondFactor;
  }
  KeyHash KeyAt(std::uint64_t place) const {
    std::uint64_t mixed = place * Inverse(kSecondFactor);
    mixed ^= mixed >> 32;
    return KeyHash{(mixed * Inverse(kFirstFactor)) ^ seed_};
  }

  // Fetches the cache line where the counter of a key should be.
  void Prefetch(std::uint64_t place) const { __builtin_prefetch(&slots_[SlotOf(place)], 1); }

  // The counter of a key, or the slot before which it would have to stand.
  std::size_t Find(std::uint64_t place) const {
    std::size_t slot = SlotOf(place);
    while (slots_[slot].place < place) ++slot;
    return slot;
  }
  bool Holds(std::size_t slot, std::uint64_t place) const {
    return slots_[slot].place == place && slots_[slot].count_bytes != 0;
  }
  Counter& at(std::size_t slot) { return slots_[slot]; }
  const Counter& at(std::size_t slot) const { return slots_[slot]; }

  // Puts a counter where Find() said; size() must be below reserved().
  Counter& Insert(std::size_t slot, const Counter& counter) {
    std::size_t free = slot;
    while (slots_[free].count_bytes != 0) ++free;
    if (free + 1 == slots_.size()) slots_.resize(slots_.size() + kSpareSlots);
    std::move_backward(slots_.begin() + static_cast<std::ptrdiff_t>(slot),
                       slots_.begin() + static_cast<std::ptrdiff_t>(free),
                       slots_.begin() + static_cast<std::ptrdiff_t>(free) + 1);
    ++size_;
    return slots_[slot] = counter;
  }

  // Makes room for `counters`, of which there must not be more already.
  void Reserve(std::size_t counters) {
    reserved_ = counters;
    home_slots_ = counters + counters / 2 + 1;
    std::vector<Counter> old(home_slots_ + kSpareSlots);
    old.swap(slots_);
    std::size_t next = 0;
    for (const Counter& counter : old) {
      if (counter.count_bytes == 0) continue;
      next = std::max(next, SlotOf(counter.place));
      if (next + 1 == slots_.size()) slots_.resize(slots_.size() + kSpareSlots);
      slots_[next++] = counter;
    }
  }

  // Keeps the counters for which `keep(counter)` holds; it is asked of free slots too, and must
  // refuse them.
  template <typename Keep>
  void Retain(const Keep& keep) {
    std::size_t next = 0;
    size_ = 0;
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      const Counter counter = slots_[slot];
      slots_[slot] = Counter{};
      const bool kept = keep(counter);
      const std::size_t target = kept ? std::max(next, SlotOf(counter.place)) : slot;
      slots_[target].count_bytes = kept ? counter.count_bytes : 0;
      slots_[target].place = kept ? counter.place : kLastPlace;
      slots_[target].error_bytes = counter.error_bytes;
      slots_[target].note = counter.note;
      next = kept ? target + 1 : next;
      size_ += kept ? 1 : 0;
    }
  }

  // Free slots have a count of zero.
  const std::vector<Counter>& slots() const { return slots_; }

 private:
  // Of a free slot: nothing stands behind it that belongs before it.
  static constexpr std::uint64_t kLastPlace = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::size_t kSpareSlots = 64;  // behind the last home slot, the last always free
  // Odd, so that mixing can be undone; otherwise without a pattern.
  static constexpr std::uint64_t kFirstFactor = 0x9E3779B97F4A7C15;
  static constexpr std::uint64_t kSecondFactor = 0xD6E8FEB86659FD93;

  // Modulo 2^64, by Newton's iteration.
  static constexpr std::uint64_t Inverse(std::uint64_t odd) {
    std::uint64_t inverse = odd;
    for (int i = 0; i < 5; ++i) inverse *= 2 - odd * inverse;
    return inverse;
  }
  std::size_t SlotOf(std::uint64_t place) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::size_t>((Wide{place} * home_slots_) >> 64);
  }

  std::uint64_t seed_ = absl::Hash<std::uint64_t>{}(1);  // Abseil sees to it that it differs
  std::size_t size_ = 0;
  std::size_t reserved_ = 0;
  std::size_t home_slots_ = 0;
  std::vector<Counter> slots_;
};

}  // namespace tidemark::streaming
