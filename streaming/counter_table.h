// A hash table of counters that keeps them in the order of their mixed hashes.
//
// The position of a key is its mixed hash. The counter of a key is at or after the slot `position *
// slots / 2^64`, and later slots have larger positions. A lookup stops at the first position that
// is not smaller. A sweep (Retain) and a move to a larger table read and write slots from front to
// back without mispredicted branches. Counters are dropped thousands at a time, never individually.
//
// Cost: Find and Insert O(1) expected, Retain and Reserve O(slots). Memory: 3/2 slots of
// sizeof(Counter) bytes per reserved counter. Not thread-safe. The mixing differs between
// processes, so that a sender cannot choose colliding hashes. The order of slots therefore also
// differs, and must not affect any output.
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
    std::uint64_t count_bytes = 0;  // 0 if the slot is free
    std::uint64_t error_bytes = 0;
    [[no_unique_address]] Note note{};
  };
  static_assert(std::is_trivially_copyable_v<Note>);

  CounterTable() { Reserve(1); }

  std::size_t size() const { return size_; }
  // Returns the number of counters that fit before the next Reserve().
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

  // Prefetches the cache line of the counter of a key.
  void Prefetch(std::uint64_t place) const { __builtin_prefetch(&slots_[SlotOf(place)], 1); }

  // Returns the slot of the counter of a key, or the slot before which it belongs.
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

  // Inserts a counter at a slot from Find(). REQUIRES: size() < reserved().
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

  // Makes room for `counters`. REQUIRES: size() <= counters.
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

  // Keeps the counters for which `keep(counter)` returns true. It is also called for free slots,
  // and must return false for them.
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

  // Returns all slots. Free slots have a count of zero.
  const std::vector<Counter>& slots() const { return slots_; }

 private:
  // Position of every free slot. It is the largest position, so a lookup stops there.
  static constexpr std::uint64_t kLastPlace = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::size_t kSpareSlots =
      64;  // slots after the last home slot, of which the last is always free
  // Odd, so that mixing can be inverted; otherwise arbitrary.
  static constexpr std::uint64_t kFirstFactor = 0x9E3779B97F4A7C15;
  static constexpr std::uint64_t kSecondFactor = 0xD6E8FEB86659FD93;

  // Returns the inverse modulo 2^64, by Newton's iteration.
  static constexpr std::uint64_t Inverse(std::uint64_t odd) {
    std::uint64_t inverse = odd;
    for (int i = 0; i < 5; ++i) inverse *= 2 - odd * inverse;
    return inverse;
  }
  std::size_t SlotOf(std::uint64_t place) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::size_t>((Wide{place} * home_slots_) >> 64);
  }

  std::uint64_t seed_ = absl::Hash<std::uint64_t>{}(1);  // differs between processes
  std::size_t size_ = 0;
  std::size_t reserved_ = 0;
  std::size_t home_slots_ = 0;
  std::vector<Counter> slots_;
};

}  // namespace tidemark::streaming
