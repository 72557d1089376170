// Finds the heavy keys of a stream that is too large to keep.
//
// SpaceSaving watches at most 2 x `capacity` keys. If another key arrives, it keeps the `capacity`
// heaviest and drops all others together. The heaviest dropped key is the new floor, the maximum
// weight of any unwatched key. A new key inherits the floor as its possible over-count. This is
// Space-Saving with deferred, batched replacements.
//
// With W the sum of all weights offered and m the capacity, for every key:
//   watched:    true <= count,  count - error <= true,  error <= floor
//   unwatched:  true <= floor
//   (m + 1) floor + sum over watched keys of (count - floor) <= W,  so  floor < W / m
// A key heavier than W / m is therefore always watched. The last line holds because a drop that
// lifts the floor by d removes at least d from each of the m + 1 heaviest keys. With at most 2 m
// keys, all counts are exact. The order of offers decides how far the errors are below their bounds
// (docs/internals/summaries.md).
//
// Cost: Offer takes expected amortised O(1); one in m new keys takes O(m). Find takes expected
// O(1), and Top(k) takes O(m log k). Memory: up to 3 m slots of a CounterTable. Not thread-safe.
// Deterministic for a given order of offers; ties are broken by hash.
//
// Source: [SS] section 3; weighted offers and batched drops: [MS], [FI]. Titles are in
// docs/internals/references.md.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "streaming/counter_table.h"
#include "streaming/saturating.h"
#include "tidemark/event.h"

namespace tidemark::streaming {

struct WatchedKey {
  KeyHash key{};
  std::uint64_t count_bytes = 0;  // never below the true size
  std::uint64_t error_bytes = 0;  // count_bytes - error_bytes is never above the true size
  std::uint64_t guaranteed_bytes() const { return count_bytes - error_bytes; }
  friend bool operator==(const WatchedKey&, const WatchedKey&) = default;
};

// Orders keys by descending weight, ties by hash.
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
// a lower bound of all counts; a tight bound is faster. REQUIRES: n < counts.size(). O(counts).
NthCount NthHeaviest(std::span<const std::uint64_t> counts, std::size_t n, std::uint64_t least);

// The default note, which is empty.
struct NoNote {};

// `Note` is the caller's data about a watched key. It is dropped with the key.
template <typename Note = NoNote>
class SpaceSaving {
 public:
  static absl::StatusOr<SpaceSaving> Create(std::size_t capacity) {
    if (absl::Status status = ValidateSpaceSavingCapacity(capacity); !status.ok()) return status;
    return SpaceSaving(capacity);
  }

  // Adds to the weight of `key`. Returns its note, which is Note() for a new key and is valid until
  // the next call. Returns null for a weight of zero, which changes nothing. Counts saturate.
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
  // Returns the k keys of largest count, heaviest first; ties by hash.
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
  // Returns the maximum weight of an unwatched key; 0 while no key was dropped.
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
  for (const Counter& counter : counters_.slots()) {  // writes always, without a branch
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

// Returns the key at index `ties`, by hash, among the keys with a count of `count_bytes`.
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

}  // namespace tidemark::streaming
