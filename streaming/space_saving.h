// Finds the heavy keys of a stream that is too large to keep.
//
// SpaceSaving watches at most 2 x `capacity` keys. If another key arrives, it keeps the `capacity`
// heaviest keys and drops all others at once. The weight of the heaviest dropped key is the new
// floor, which bounds the weight of every unwatched key. A new key inherits the floor as its
// possible over-count. This is Space-Saving with deferred, batched replacements.
//
// Let W be the sum of all weights offered, and m the capacity. For every key:
//   watched:    true <= count,  count - error <= true,  error <= floor
//   unwatched:  true <= floor
//   (m + 1) floor + sum over watched keys of (count - floor) <= W,  so  floor < W / m
// A key heavier than W / m is therefore always watched. The last line holds because a drop that
// lifts the floor by d removes at least d from each of the m + 1 heaviest keys. With at most 2 m
// keys, all counts are exact. The order of offers determines how far the errors are below their
// bounds (docs/internals/summaries.md).
//
// Offer takes expected amortised O(1) time, although one in m new keys takes O(m). Find takes
// expected O(1) time, and Top(k) takes O(m log k). Memory: up to 3 m slots of a CounterTable. Not
// thread-safe. Deterministic for a given order of offers; ties are broken by hash.
//
// Source: [SS] section 3; weighted offers and batched drops: [MS], [FI]. Titles are in
// docs/internals/references.md.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "streaming/saturating.h"
#include "tidemark/event.h"

namespace tidemark::streaming {

// A hash table of counters that keeps them in the order of their mixed hashes.
//
// The position of a key is its mixed hash. The counter of a key is at or after the slot `position *
// slots / 2^64`, and positions increase from slot to slot. A lookup stops at the first position
// that is not smaller. A sweep (Retain) and a move to a larger table read and write slots from
// front to back without mispredicted branches. Counters are dropped thousands at a time, never
// individually.
//
// Find and Insert take expected O(1) time, Retain and Reserve O(slots). Memory: 3/2 slots of
// sizeof(Counter) bytes per reserved counter. Not thread-safe. The mixing differs between
// processes, so that a sender cannot choose colliding hashes. The order of slots therefore also
// differs, and must not affect any output.
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

  // Reserves space for `counters`. REQUIRES: size() <= counters.
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

  // Keeps the counters for which `keep(counter)` returns true. `keep` is also called for free
  // slots, and must return false for them.
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
      64;  // slots after the last home slot; the last of these is always free
  // Odd, so that mixing can be inverted; otherwise arbitrary.
  static constexpr std::uint64_t kFirstFactor = 0x9E3779B97F4A7C15;
  static constexpr std::uint64_t kSecondFactor = 0xD6E8FEB86659FD93;

  // Returns the inverse modulo 2^64, using Newton's iteration.
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

struct WatchedKey {
  KeyHash key{};
  std::uint64_t count_bytes = 0;  // never below the true weight
  std::uint64_t error_bytes = 0;  // count_bytes - error_bytes is never above the true weight
  std::uint64_t guaranteed_bytes() const { return count_bytes - error_bytes; }
  friend bool operator==(const WatchedKey&, const WatchedKey&) = default;
};

// Orders keys by descending weight, then by hash.
bool HeavierFirst(const WatchedKey& a, const WatchedKey& b);

inline constexpr std::size_t kSpaceSavingCapacityMax = std::size_t{1} << 24;

// Returns InvalidArgument unless 1 <= capacity <= kSpaceSavingCapacityMax.
absl::Status ValidateSpaceSavingCapacity(std::size_t capacity);

struct NthCount {
  std::uint64_t count = 0;
  std::size_t heavier = 0;  // number of larger counts
  friend bool operator==(const NthCount&, const NthCount&) = default;
};

// Returns the count at index `n` of `counts` in descending order, without sorting them. `least` is
// a lower bound of all counts; a tight bound makes the function faster. REQUIRES: n <
// counts.size(). O(counts).
NthCount NthHeaviest(std::span<const std::uint64_t> counts, std::size_t n, std::uint64_t least);

// The default note, which is empty.
struct NoNote {};

// `Note` is the caller's data about a watched key. The note is dropped together with the key.
template <typename Note = NoNote>
class SpaceSaving {
 public:
  static absl::StatusOr<SpaceSaving> Create(std::size_t capacity) {
    if (absl::Status status = ValidateSpaceSavingCapacity(capacity); !status.ok()) return status;
    return SpaceSaving(capacity);
  }

  // Adds to the weight of `key`. Returns the key's note, which is Note() for a new key and is valid
  // until the next call. Returns null for a weight of zero, which changes nothing. Counts saturate.
  Note* Offer(KeyHash key, std::uint64_t weight_bytes) {
    if (weight_bytes == 0) return nullptr;
    total_bytes_ = SaturatingAdd(total_bytes_, weight_bytes);
    const std::uint64_t place = counters_.PlaceOf(key);
    const std::size_t slot = counters_.Find(place);
    if (!counters_.Holds(slot, place)) return &Watch(place, weight_bytes).note;
    Counter& counter = counters_.at(slot);
    counter.count_bytes = SaturatingAdd(counter.count_bytes, weight_bytes);
    return &counter.note;
  }
  // Offers each key and calls visit(key, note) with the note from Offer(). Faster than single
  // calls, since the counters of the next keys are prefetched.
  template <typename Visit>
  void OfferAll(std::span<const ExplicitKey> keys, const Visit& visit) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (i + kKeysAhead < keys.size()) {
        counters_.Prefetch(counters_.PlaceOf(keys[i + kKeysAhead].key));
      }
      visit(keys[i], Offer(keys[i].key, keys[i].size_bytes));
    }
  }

  // Returns the counter of a key, or nullopt if it is not watched.
  std::optional<WatchedKey> Find(KeyHash key) const {
    const Counter* counter = FindCounter(key);
    return counter == nullptr ? std::nullopt : std::optional(Watched(*counter));
  }
  // Returns the note of a key, or null if it is not watched.
  const Note* FindNote(KeyHash key) const {
    const Counter* counter = FindCounter(key);
    return counter == nullptr ? nullptr : &counter->note;
  }
  // Calls visit(WatchedKey, const Note&) for each watched key, in an order that differs between
  // processes.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (const Counter& counter : counters_.slots()) {
      if (counter.count_bytes != 0) visit(Watched(counter), counter.note);
    }
  }
  // Returns the k keys with the largest counts, heaviest first, then by hash.
  std::vector<WatchedKey> Top(std::size_t k) const {
    std::vector<WatchedKey> top;
    top.reserve(size());
    ForEach([&](const WatchedKey& watched, const Note&) { top.push_back(watched); });
    k = std::min(k, top.size());
    std::partial_sort(top.begin(), top.begin() + static_cast<std::ptrdiff_t>(k), top.end(),
                      HeavierFirst);
    top.resize(k);
    return top;
  }

  std::size_t capacity() const { return capacity_; }
  std::size_t size() const { return counters_.size(); }
  std::uint64_t total_bytes() const { return total_bytes_; }
  // Returns the maximum weight of an unwatched key, or 0 while no key has been dropped.
  std::uint64_t floor_bytes() const { return floor_bytes_; }

 private:
  using Counter = typename CounterTable<Note>::Counter;

  static constexpr std::size_t kCountersMin = 16;
  static constexpr std::size_t kKeysAhead = 12;  // covers the latency of one fetch from memory

  explicit SpaceSaving(std::size_t capacity) : capacity_(capacity) {}
  WatchedKey Watched(const Counter& counter) const {
    return {counters_.KeyAt(counter.place), counter.count_bytes, counter.error_bytes};
  }
  const Counter* FindCounter(KeyHash key) const {
    const std::uint64_t place = counters_.PlaceOf(key);
    const std::size_t slot = counters_.Find(place);
    return counters_.Holds(slot, place) ? &counters_.at(slot) : nullptr;
  }
  Counter& Watch(std::uint64_t place, std::uint64_t weight_bytes);
  void DropLightest();
  KeyHash TieEnd(std::uint64_t count_bytes, std::size_t ties) const;

  std::size_t capacity_;
  std::uint64_t total_bytes_ = 0;
  std::uint64_t floor_bytes_ = 0;
  CounterTable<Note> counters_;
};

template <typename Note>
[[gnu::noinline]] auto SpaceSaving<Note>::Watch(std::uint64_t place, std::uint64_t weight_bytes)
    -> Counter& {
  if (size() == 2 * capacity_) DropLightest();
  if (size() == counters_.reserved()) {
    counters_.Reserve(std::min(std::max(2 * size(), kCountersMin), 2 * capacity_));
  }
  return counters_.Insert(counters_.Find(place),
                          {place, SaturatingAdd(floor_bytes_, weight_bytes), floor_bytes_, {}});
}

// Drops all but `capacity_` keys.
template <typename Note>
void SpaceSaving<Note>::DropLightest() {
  std::vector<std::uint64_t> counts(counters_.slots().size());
  std::size_t used = 0;
  for (const Counter& counter : counters_.slots()) {  // Always writes, to avoid a branch.
    counts[used] = counter.count_bytes;
    used += counter.count_bytes != 0 ? 1 : 0;
  }
  counts.resize(used);
  const NthCount first_dropped = NthHeaviest(counts, capacity_, floor_bytes_);
  // Keys with the same count fill the remaining capacity.
  const std::size_t ties = capacity_ - first_dropped.heavier;
  const KeyHash tie_end = ties > 0 ? TieEnd(first_dropped.count, ties) : KeyHash{};
  counters_.Retain([&](const Counter& counter) {
    return counter.count_bytes > first_dropped.count ||
           (ties > 0 && counter.count_bytes == first_dropped.count &&
            counters_.KeyAt(counter.place) < tie_end);
  });
  floor_bytes_ = first_dropped.count;
}

// Returns the key at index `ties`, ordered by hash, among the keys with a count of `count_bytes`.
template <typename Note>
KeyHash SpaceSaving<Note>::TieEnd(std::uint64_t count_bytes, std::size_t ties) const {
  std::vector<KeyHash> keys;
  for (const Counter& counter : counters_.slots()) {
    if (counter.count_bytes == count_bytes) keys.push_back(counters_.KeyAt(counter.place));
  }
  const auto end = keys.begin() + static_cast<std::ptrdiff_t>(ties);
  std::nth_element(keys.begin(), end, keys.end());
  return *end;
}

// Finds the contents of a map profile ([NF] 5.1, eq. 10): the lambda heaviest keys of one map task,
// and the totals of all other keys per partition.
//
// Offer() adds one key group of one partition, and returns the key group that is implicit from now
// on, if any. If a key is offered twice, it counts as two key groups, which the master adds up. It
// takes O(log lambda) time for a key that enters the heap, and otherwise O(1). Memory: lambda
// entries, and one total per partition. Not thread-safe.
class HeaviestKeys {
 public:
  // With lambda = 0, every key is implicit.
  HeaviestKeys(std::uint32_t partition_count_hint, std::uint32_t lambda);

  struct Implicit {
    std::uint32_t partition = 0;
    ExplicitKey group;
  };
  std::optional<Implicit> Offer(std::uint32_t partition, const ExplicitKey& group);
  std::optional<Implicit> Offer(std::uint32_t partition, KeyHash key, std::uint64_t size_bytes) {
    return Offer(partition, {key, size_bytes});
  }

  // Returns one entry per partition with data, by index. Explicit keys are in descending order of
  // size, then by hash. total_bytes is the sum of the explicit keys and implicit_bytes.
  std::vector<PartitionProfile> Profiles() const;

 private:
  struct Entry {
    std::uint64_t size_bytes;
    KeyHash key;
    std::uint64_t values;
    std::uint32_t partition;
  };
  struct Totals {
    std::uint64_t key_count = 0;
    std::uint64_t bytes = 0;
  };
  std::uint32_t lambda_;
  std::vector<Entry> heap_;     // lightest first
  std::vector<Totals> totals_;  // by partition
};

}  // namespace tidemark::streaming
