#include "streaming/space_saving.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace tidemark::streaming {
namespace {

std::uint64_t SaturatingAdd(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b
             ? std::numeric_limits<std::uint64_t>::max()
             : a + b;
}

bool HeavierFirst(const WatchedKey& a, const WatchedKey& b) {
  return a.count_bytes != b.count_bytes ? a.count_bytes > b.count_bytes : a.key < b.key;
}

}  // namespace

absl::StatusOr<SpaceSaving> SpaceSaving::Create(std::size_t capacity) {
  if (capacity >= 1 && capacity <= kCapacityMax) return SpaceSaving(capacity);
  return absl::InvalidArgumentError(
      fmt::format("space-saving capacity {}: must be 1 to {}", capacity, kCapacityMax));
}

void SpaceSaving::Place(std::size_t position, const WatchedKey& watched) {
  heap_[position] = watched;
  position_[watched.key] = position;
}

// A count has grown: moves it away from the front.
void SpaceSaving::SiftDown(std::size_t position) {
  const WatchedKey moving = heap_[position];
  while (true) {
    std::size_t child = 2 * position + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1].count_bytes < heap_[child].count_bytes)
      ++child;
    if (heap_[child].count_bytes >= moving.count_bytes) break;
    Place(position, heap_[child]);
    position = child;
  }
  Place(position, moving);
}

void SpaceSaving::SiftUp(std::size_t position) {
  const WatchedKey moving = heap_[position];
  while (position > 0) {
    const std::size_t parent = (position - 1) / 2;
    if (heap_[parent].count_bytes <= moving.count_bytes) break;
    Place(position, heap_[parent]);
    position = parent;
  }
  Place(position, moving);
}

std::optional<WatchedKey> SpaceSaving::Offer(KeyHash key, std::uint64_t weight_bytes) {
  if (weight_bytes == 0) return std::nullopt;
  total_bytes_ = SaturatingAdd(total_bytes_, weight_bytes);
  if (const auto known = position_.find(key); known != position_.end()) {
    const std::size_t position = known->second;
    heap_[position].count_bytes = SaturatingAdd(heap_[position].count_bytes, weight_bytes);
    SiftDown(position);
    return std::nullopt;
  }
  if (heap_.size() < capacity_) {
    heap_.push_back({key, weight_bytes, 0});
    SiftUp(heap_.size() - 1);
    return std::nullopt;
  }
  const WatchedKey lightest = heap_.front();
  position_.erase(lightest.key);
  Place(0, {key, SaturatingAdd(lightest.count_bytes, weight_bytes), lightest.count_bytes});
  SiftDown(0);
  return lightest;
}

std::optional<WatchedKey> SpaceSaving::Find(KeyHash key) const {
  const auto known = position_.find(key);
  if (known == position_.end()) return std::nullopt;
  return heap_[known->second];
}

std::vector<WatchedKey> SpaceSaving::Top(std::size_t k) const {
  std::vector<WatchedKey> top = heap_;
  k = std::min(k, top.size());
  std::partial_sort(top.begin(), top.begin() + static_cast<std::ptrdiff_t>(k), top.end(),
                    HeavierFirst);
  top.resize(k);
  return top;
}

// The most that a key can weigh without being watched.
std::uint64_t SpaceSaving::UnwatchedMax() const {
  return heap_.size() < capacity_ ? 0 : heap_.front().count_bytes;
}

void SpaceSaving::Merge(const SpaceSaving& other) {
  const std::uint64_t mine = UnwatchedMax();
  const std::uint64_t theirs = other.UnwatchedMax();
  std::vector<WatchedKey> merged;
  merged.reserve(heap_.size() + other.heap_.size());
  for (WatchedKey watched : heap_) {
    const std::optional<WatchedKey> twin = other.Find(watched.key);
    watched.count_bytes = SaturatingAdd(watched.count_bytes, twin ? twin->count_bytes : theirs);
    watched.error_bytes = SaturatingAdd(watched.error_bytes, twin ? twin->error_bytes : theirs);
    merged.push_back(watched);
  }
  for (WatchedKey watched : other.heap_) {
    if (position_.contains(watched.key)) continue;
    watched.count_bytes = SaturatingAdd(watched.count_bytes, mine);
    watched.error_bytes = SaturatingAdd(watched.error_bytes, mine);
    merged.push_back(watched);
  }
  std::sort(merged.begin(), merged.end(), HeavierFirst);
  merged.resize(std::min(merged.size(), capacity_));
  std::reverse(merged.begin(), merged.end());  // ascending order is a heap with the lightest first
  total_bytes_ = SaturatingAdd(total_bytes_, other.total_bytes_);
  heap_ = std::move(merged);
  position_.clear();
  for (std::size_t i = 0; i < heap_.size(); ++i) position_[heap_[i].key] = i;
}

std::uint64_t SpaceSaving::error_bytes_max() const {
  return heap_.size() < capacity_ ? 0 : total_bytes_ / capacity_;
}

}  // namespace tidemark::streaming
