#include "streaming/space_saving.h"

#include <fmt/format.h>

#include <bit>
#include <functional>

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
  return absl::InvalidArgumentError(
      fmt::format("space-saving capacity {}: must be 1 to {}", capacity, kSpaceSavingCapacityMax));
}

}  // namespace tidemark::streaming
