#include "streaming/space_saving.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace tidemark::streaming {
namespace {

// A bucket is the exponent and the first five mantissa bits of a count as a float, so counts within
// a bucket differ by at most 3 %. Exponents range up to that of 2^64.
constexpr int kDroppedDigits = 18;
constexpr std::size_t kBuckets = ((127 + 64 + 1) << 23) >> kDroppedDigits;

std::size_t BucketOf(std::uint64_t value) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> kDroppedDigits;
}

}  // namespace

NthCount NthHeaviest(std::span<const std::uint64_t> counts, std::size_t n, std::uint64_t least) {
  std::vector<std::uint32_t> sizes(kBuckets);
  for (const std::uint64_t count : counts) ++sizes[BucketOf(count - least)];
  std::size_t bucket = kBuckets - 1;
  std::size_t heavier = 0;  // number of counts in higher buckets
  for (; heavier + sizes[bucket] <= n; --bucket) heavier += sizes[bucket];
  std::vector<std::uint64_t> candidates(sizes[bucket] + std::size_t{1});
  std::size_t found = 0;
  for (const std::uint64_t count : counts) {  // branch-free
    candidates[found] = count;
    found += BucketOf(count - least) == bucket ? 1 : 0;
  }
  candidates.pop_back();
  const auto nth = candidates.begin() + static_cast<std::ptrdiff_t>(n - heavier);
  std::nth_element(candidates.begin(), nth, candidates.end(), std::greater<>());
  const auto above =
      std::count_if(candidates.begin(), nth, [&](std::uint64_t count) { return count > *nth; });
  return {*nth, heavier + static_cast<std::size_t>(above)};
}

bool HeavierFirst(const WatchedKey& a, const WatchedKey& b) {
  return a.count_bytes != b.count_bytes ? a.count_bytes > b.count_bytes : a.key < b.key;
}

absl::Status ValidateSpaceSavingCapacity(std::size_t capacity) {
  if (capacity >= 1 && capacity <= kSpaceSavingCapacityMax) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("space-saving capacity {}: must be from 1 to {}",
                                                capacity, kSpaceSavingCapacityMax));
}

namespace {

// Order of a heap with the lightest key at its front. The larger hash of equal sizes is removed
// first.
constexpr auto kHeavier = [](const auto& a, const auto& b) {
  return a.size_bytes != b.size_bytes ? a.size_bytes > b.size_bytes : a.key < b.key;
};

}  // namespace

HeaviestKeys::HeaviestKeys(std::uint32_t partition_count_hint, std::uint32_t lambda)
    : lambda_(lambda) {
  totals_.reserve(partition_count_hint);
}

std::optional<HeaviestKeys::Implicit> HeaviestKeys::Offer(std::uint32_t partition,
                                                          const ExplicitKey& group) {
  if (partition >= totals_.size()) totals_.resize(partition + std::size_t{1});
  totals_[partition].key_count += 1;
  totals_[partition].bytes += group.size_bytes;
  const Entry entry{group.size_bytes, group.key, group.values, partition};
  if (heap_.size() < lambda_) {
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), kHeavier);
    return std::nullopt;
  }
  if (lambda_ == 0 || !kHeavier(entry, heap_.front())) return Implicit{partition, group};
  std::pop_heap(heap_.begin(), heap_.end(), kHeavier);
  const Entry lightest = std::exchange(heap_.back(), entry);
  std::push_heap(heap_.begin(), heap_.end(), kHeavier);
  return Implicit{lightest.partition, {lightest.key, lightest.size_bytes, lightest.values}};
}

std::vector<PartitionProfile> HeaviestKeys::Profiles() const {
  std::vector<PartitionProfile> by_partition(totals_.size());
  for (std::size_t i = 0; i < totals_.size(); ++i) {
    by_partition[i].partition = static_cast<std::uint32_t>(i);
    by_partition[i].total_bytes = by_partition[i].implicit_bytes = totals_[i].bytes;
    by_partition[i].implicit_key_count = totals_[i].key_count;
  }
  std::vector<Entry> explicit_keys = heap_;
  std::sort(explicit_keys.begin(), explicit_keys.end(), kHeavier);
  for (const Entry& entry : explicit_keys) {
    PartitionProfile& profile = by_partition[entry.partition];
    profile.explicit_keys.push_back({entry.key, entry.size_bytes, entry.values});
    profile.implicit_bytes -= entry.size_bytes;
    --profile.implicit_key_count;
  }
  std::erase_if(by_partition, [](const PartitionProfile& profile) {
    return profile.explicit_keys.empty() && profile.implicit_key_count == 0;
  });
  return by_partition;
}

}  // namespace tidemark::streaming
