// Heavy keys of a stream too large to keep.
//
// SpaceSaving watches at most `capacity` keys. An unwatched key takes over the place of the
// lightest one and inherits its weight, remembered as the newcomer's possible over-count.
//
// With W the sum of all weights offered and m the capacity, for every key:
//   watched:    true <= count,  count - error <= true,  error <= W / m
//   unwatched:  true <= W / m
// so a key heavier than W / m is always watched. Merge() adds the bounds of both inputs.
//
// Cost: Offer O(log m), Find O(1) expected, Top(k) O(m log k). Memory: m counters and an index over
// them, allocated as keys come. Not thread-safe: one owner at a time. Deterministic in the order of
// offers.
//
// Source: [SS] section 3; weighted offers and Merge(): [MS]. Titles in docs/references.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "tidemark/event.h"

namespace tidemark::streaming {

struct WatchedKey {
  KeyHash key{};
  std::uint64_t count_bytes = 0;  // never below the true size
  std::uint64_t error_bytes = 0;  // count_bytes - error_bytes is never above it
  std::uint64_t guaranteed_bytes() const { return count_bytes - error_bytes; }
  friend bool operator==(const WatchedKey&, const WatchedKey&) = default;
};

class SpaceSaving {
 public:
  static constexpr std::size_t kCapacityMax = std::size_t{1} << 24;

  // InvalidArgument unless 1 <= capacity <= kCapacityMax.
  static absl::StatusOr<SpaceSaving> Create(std::size_t capacity);

  // Adds to `key`; returns the key it pushed out, if any, so that the caller can give the lost
  // bytes back to the reduce task that owns them. Zero changes nothing. Counts saturate.
  std::optional<WatchedKey> Offer(KeyHash key, std::uint64_t weight_bytes);

  // The counter of a key; empty if it is not watched.
  std::optional<WatchedKey> Find(KeyHash key) const;
  // The k keys of largest count, heaviest first; ties by hash.
  std::vector<WatchedKey> Top(std::size_t k) const;
  // Every watched key, in no particular but reproducible order.
  const std::vector<WatchedKey>& watched() const { return heap_; }
  // Makes this the summary of both streams; capacity stays.
  void Merge(const SpaceSaving& other);

  std::size_t capacity() const { return capacity_; }
  std::size_t size() const { return heap_.size(); }
  std::uint64_t total_bytes() const { return total_bytes_; }
  // W / m: the most an unwatched key can weigh, once the summary is full; 0 before.
  std::uint64_t error_bytes_max() const;

 private:
  explicit SpaceSaving(std::size_t capacity) : capacity_(capacity) {}
  void Place(std::size_t position, const WatchedKey& watched);
  void SiftDown(std::size_t position);
  void SiftUp(std::size_t position);
  std::uint64_t UnwatchedMax() const;

  std::size_t capacity_;
  std::uint64_t total_bytes_ = 0;
  std::vector<WatchedKey> heap_;                        // lightest at the front
  absl::flat_hash_map<KeyHash, std::size_t> position_;  // in heap_
};

}  // namespace tidemark::streaming
