#include "streaming/size_histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "streaming/saturating.h"

namespace tidemark::streaming {
namespace {

std::uint64_t SaturatingMultiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max()
                                                : product;
}

void AddMoments(const GroupBin& from, GroupBin& to) {
  to.count = SaturatingAdd(to.count, from.count);
  to.size_bytes = SaturatingAdd(to.size_bytes, from.size_bytes);
  to.seconds += from.seconds;
  to.seconds_squared += from.seconds_squared;
  to.emitted_bytes = SaturatingAdd(to.emitted_bytes, from.emitted_bytes);
}

}  // namespace

std::uint32_t SizeBin(std::uint64_t size_bytes) {
  if (size_bytes <= 1) return 0;
  const double bin = std::floor(kBinsPerOctave * std::log2(static_cast<double>(size_bytes)));
  return std::min(static_cast<std::uint32_t>(bin), kSizeBins - 1);
}

void SizeHistogram::Add(std::uint64_t size_bytes, std::uint64_t count, absl::Duration total_time,
                        std::uint64_t emitted_bytes) {
  if (count == 0) return;
  const double seconds =
      total_time > absl::ZeroDuration() ? absl::ToDoubleSeconds(total_time) : 0.0;
  Add(GroupBin{SizeBin(size_bytes), count, SaturatingMultiply(size_bytes, count), seconds,
               seconds * seconds / static_cast<double>(count), emitted_bytes});
}

void SizeHistogram::Add(const GroupBin& bin) {
  const bool sound = std::isfinite(bin.seconds) && std::isfinite(bin.seconds_squared) &&
                     bin.seconds >= 0 && bin.seconds_squared >= 0;
  if (bin.count == 0 || bin.bin >= kSizeBins || !sound) return;
  const auto at =
      std::lower_bound(bins_.begin(), bins_.end(), bin.bin,
                       [](const GroupBin& b, std::uint32_t index) { return b.bin < index; });
  if (at != bins_.end() && at->bin == bin.bin) {
    AddMoments(bin, *at);
  } else {
    bins_.insert(at, bin);
  }
}

void SizeHistogram::Merge(const SizeHistogram& other) {
  for (const GroupBin& bin : other.bins()) Add(bin);
}

void SizeHistogram::RemoveSizes(std::uint64_t size_bytes, std::uint64_t count) {
  const std::uint32_t index = SizeBin(size_bytes);
  for (GroupBin& bin : bins_) {
    if (bin.bin != index) continue;
    const std::uint64_t removed = std::min(count, bin.count);
    const std::uint64_t removed_bytes = SaturatingMultiply(size_bytes, removed);
    bin.count -= removed;
    bin.size_bytes -= std::min(removed_bytes, bin.size_bytes);
  }
}

std::vector<GroupBin> SizeHistogram::bins() const {
  std::vector<GroupBin> used;
  for (const GroupBin& bin : bins_) {
    if (bin.count > 0) used.push_back(bin);
  }
  return used;
}

std::uint64_t SizeHistogram::count() const {
  std::uint64_t sum = 0;
  for (const GroupBin& bin : bins_) sum = SaturatingAdd(sum, bin.count);
  return sum;
}

std::uint64_t SizeHistogram::size_bytes() const {
  std::uint64_t sum = 0;
  for (const GroupBin& bin : bins_) sum = SaturatingAdd(sum, bin.size_bytes);
  return sum;
}

void SizeHistogram::Clear() { bins_.clear(); }

}  // namespace tidemark::streaming
