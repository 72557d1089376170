#include "streaming/size_histogram.h"

#include <algorithm>
#include <array>
#include <bit>
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

std::uint32_t BinByLogarithm(std::uint64_t size_bytes) {
  const double bin = std::floor(kBinsPerOctave * std::log2(static_cast<double>(size_bytes)));
  return std::min(static_cast<std::uint32_t>(bin), kSizeBins - 1);
}

// Number of octaves with tabulated bin limits. Only larger sizes, which are rare, require a
// logarithm. Doubles are too coarse to find the limits of later octaves.
constexpr int kOctaves = 40;

struct Octave {
  // The smallest size of each bin except the first.
  std::array<std::uint64_t, kBinsPerOctave - 1> begins{};
};

std::array<Octave, kOctaves> FindOctaves() {
  std::array<Octave, kOctaves> octaves;
  for (int o = 0; o < kOctaves; ++o) {
    for (std::uint32_t k = 1; k < kBinsPerOctave; ++k) {
      const std::uint32_t bin = kBinsPerOctave * static_cast<std::uint32_t>(o) + k;
      auto begin = static_cast<std::uint64_t>(std::exp2(static_cast<double>(bin) / kBinsPerOctave));
      while (begin > 1 && BinByLogarithm(begin - 1) >= bin) --begin;
      while (BinByLogarithm(begin) < bin) ++begin;
      octaves[o].begins[k - 1] = begin;
    }
  }
  return octaves;
}

}  // namespace

std::uint32_t SizeBin(std::uint64_t size_bytes) {
  static const std::array<Octave, kOctaves> octaves = FindOctaves();
  if (size_bytes <= 1) return 0;
  const int octave = static_cast<int>(std::bit_width(size_bytes)) - 1;
  if (octave >= kOctaves) return BinByLogarithm(size_bytes);
  std::uint32_t bin = kBinsPerOctave * static_cast<std::uint32_t>(octave);
  for (const std::uint64_t begin : octaves[octave].begins) bin += size_bytes >= begin ? 1 : 0;
  return bin;
}

void SizeHistogram::Add(std::uint64_t size_bytes, std::uint64_t count, absl::Duration total_time,
                        std::uint64_t emitted_bytes) {
  if (count == 0) return;
  const std::uint64_t bytes = SaturatingMultiply(size_bytes, count);
  GroupBin added{.bin = SizeBin(size_bytes),
                 .count = count,
                 .size_bytes = bytes,
                 .emitted_bytes = emitted_bytes};
  if (total_time > absl::ZeroDuration()) {
    added.seconds = absl::ToDoubleSeconds(total_time);
    if (!std::isfinite(added.seconds)) return;
    added.seconds_squared = added.seconds * added.seconds / static_cast<double>(count);
  }
  AddMoments(added, At(added.bin));
}

void SizeHistogram::Add(const GroupBin& bin) {
  const bool sound = std::isfinite(bin.seconds) && std::isfinite(bin.seconds_squared) &&
                     bin.seconds >= 0 && bin.seconds_squared >= 0;
  if (bin.count == 0 || bin.bin >= kSizeBins || !sound) return;
  AddMoments(bin, At(bin.bin));
}

GroupBin& SizeHistogram::At(std::uint32_t bin) {
  if (bins_.empty()) return bins_.emplace_back(GroupBin{.bin = bin});
  const std::uint32_t first = bins_.front().bin;
  if (bin < first) {
    bins_.insert(bins_.begin(), first - bin, GroupBin{});
    for (std::uint32_t i = 0; i < first - bin; ++i) bins_[i].bin = bin + i;
    return bins_.front();
  }
  while (bins_.back().bin < bin) bins_.push_back(GroupBin{.bin = bins_.back().bin + 1});
  return bins_[bin - first];
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
  used.reserve(bins_.size());
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
