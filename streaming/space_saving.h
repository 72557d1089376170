// Heavy keys of a stream too large to keep.
//
// SpaceSaving holds at most 2 `capacity` keys. When one more comes, the `capacity` heaviest stay
// and all others are dropped at once; the heaviest of those dropped is from then on the floor, what
// any key that is not watched may weigh at most. A newcomer inherits the floor, remembered as its
// possible over-count. That is Space-Saving with its replacements put off and done in one go.
//
// With W the sum of all weights offered and m the capacity, for every key:
//   watched:    true <= count,  count - error <= true,  error <= floor
//   unwatched:  true <= floor
//   (m + 1) floor + sum over watched keys of (count - floor) <= W,  so  floor < W / m
// so a key heavier than W / m is always watched. The last line holds because a drop that lifts the
// floor by d takes d at least from each of the m + 1 heaviest. Merge() adds the bounds of both
// inputs, and the last line holds for W of both. While no more than 2 m keys came, all is exact.
//
// How large the errors are below their bounds depends on the order of offers: docs/summaries.md.
//
// Cost: Offer O(1) amortised and expected, for one in m newcomers O(m); Find O(1) expected,
// Top(k) O(m log k). Memory: 3 m slots of a CounterTable, allocated as keys come. Not thread-safe:
// one owner at a time. Deterministic in the order of offers; ties are broken by hash.
//
// Source: [SS] section 3; weighted offers, Merge() and dropping in batches: [MS], [FI]. Titles in
// docs/references.md.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "streaming/counter_table.h"
#include "streaming/nth_heaviest.h"
#include "streaming/saturating.h"
#include "tidemark/event.h"

namespace tidemark::streaming {

struct WatchedKey {
  KeyHash key{};
  std::uint64_t count_bytes = 0;  // never below the true size
  std::uint64_t error_bytes = 0;  // count_bytes - error_bytes is never above it
  std::uint64_t guaranteed_bytes() const { return count_bytes - error_bytes; }
  friend bool operator==(const WatchedKey&, const WatchedKey&) = default;
};

// The heavier first; ties by hash.
bool HeavierFirst(const WatchedKey& a, const WatchedKey& b);

inline constexpr std::size_t kSpaceSavingCapacityMax = std::size_t{1} << 24;

// InvalidArgument unless 1 <= capacity <= kSpaceSavingCapacityMax.
absl::Status ValidateSpaceSavingCapacity(std::size_t capacity);

// Note: what a caller wants to remember of each watched key; it is lost when the key is dropped.
struct NoNote {};

template <typename Note = NoNote>
class SpaceSaving {
 public:
  static absl::StatusOr<SpaceSaving> Create(std::size_t capacity) {
    if (absl::Status status = ValidateSpaceSavingCapacity(capacity); !status.ok()) return status;
    return SpaceSaving(capacity);
  }

  // Adds to `key` and returns its note, which is Note() for a newcomer and holds until the next
  // call. Zero changes nothing and returns null. Counts saturate.
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
  // Offers each key and calls visit(key, note) with the note that Offer() returned. Faster than one
  // by one: what belongs to the keys to come is fetched meanwhile.
  template <typename Visit>
  void OfferAll(std::span<const ExplicitKey> keys, const Visit& visit) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (i + kKeysAhead < keys.size()) {
        counters_.Prefetch(counters_.PlaceOf(keys[i + kKeysAhead].key));
      }
      visit(keys[i], Offer(keys[i].key, keys[i].size_bytes));
    }
  }

  // The counter of a key; empty if it is not watched.
  std::optional<WatchedKey> Find(KeyHash key) const {
    const Counter* counter = FindCounter(key);
    return counter == nullptr ? std::nullopt : std::optional(Watched(*counter));
  }
  // Null if the key is not watched.
  const Note* FindNote(KeyHash key) const {
    const Counter* counter = FindCounter(key);
    return counter == nullptr ? nullptr : &counter->note;
  }
  // Calls visit(WatchedKey, const Note&) for each watched key, in an order that differs from
  // process to process.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (const Counter& counter : counters_.slots()) {
      if (counter.count_bytes != 0) visit(Watched(counter), counter.note);
    }
  }
  // The k keys of largest count, heaviest first; ties by hash.
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
  // Makes this the summary of both streams; capacity stays.
  void Merge(const SpaceSaving& other) requires std::is_empty_v<Note>;

  std::size_t capacity() const { return capacity_; }
  std::size_t size() const { return counters_.size(); }
  std::uint64_t total_bytes() const { return total_bytes_; }
  // The most that a key can weigh without being watched; 0 as long as all keys fitted.
  std::uint64_t floor_bytes() const { return floor_bytes_; }

 private:
  using Counter = typename CounterTable<Note>::Counter;

  static constexpr std::size_t kCountersMin = 16;
  static constexpr std::size_t kKeysAhead = 12;  // about what one fetch from memory takes

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

// Ends with `capacity_` keys.
template <typename Note>
void SpaceSaving<Note>::DropLightest() {
  std::vector<std::uint64_t> counts(counters_.slots().size());
  std::size_t used = 0;
  for (const Counter& counter : counters_.slots()) {  // writes each, keeps the used: no branch
    counts[used] = counter.count_bytes;
    used += counter.count_bytes != 0 ? 1 : 0;
  }
  counts.resize(used);
  const NthCount first_dropped = NthHeaviest(counts, capacity_, floor_bytes_);
  // Of the keys as heavy as it, so many stay as make up the capacity.
  const std::size_t ties = capacity_ - first_dropped.heavier;
  const KeyHash tie_end = ties > 0 ? TieEnd(first_dropped.count, ties) : KeyHash{};
  counters_.Retain([&](const Counter& counter) {
    return counter.count_bytes > first_dropped.count ||
           (ties > 0 && counter.count_bytes == first_dropped.count &&
            counters_.KeyAt(counter.place) < tie_end);
  });
  floor_bytes_ = first_dropped.count;
}

// The key that is number `ties`, from 0, by hash among those that weigh `count_bytes`.
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

template <typename Note>
void SpaceSaving<Note>::Merge(const SpaceSaving& other) requires std::is_empty_v<Note> {
  SpaceSaving merged(capacity_);
  merged.total_bytes_ = SaturatingAdd(total_bytes_, other.total_bytes_);
  merged.floor_bytes_ = SaturatingAdd(floor_bytes_, other.floor_bytes_);
  merged.counters_.Reserve(size() + other.size());
  const auto take = [&](const SpaceSaving& from, const SpaceSaving& with, bool keys_of_both) {
    for (Counter counter : from.counters_.slots()) {
      if (counter.count_bytes == 0) continue;
      const Counter* twin = with.FindCounter(counters_.KeyAt(counter.place));
      if (twin != nullptr && !keys_of_both) continue;
      counter.count_bytes =
          SaturatingAdd(counter.count_bytes, twin ? twin->count_bytes : with.floor_bytes_);
      counter.error_bytes =
          SaturatingAdd(counter.error_bytes, twin ? twin->error_bytes : with.floor_bytes_);
      merged.counters_.Insert(merged.counters_.Find(counter.place), counter);
    }
  };
  take(*this, other, true);
  take(other, *this, false);
  if (merged.size() > 2 * capacity_) merged.DropLightest();
  merged.counters_.Reserve(merged.size());
  *this = std::move(merged);
}

}  // namespace tidemark::streaming
