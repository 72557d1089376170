#include "streaming/size_histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tidemark::streaming {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

TEST(SizeBin, HasSixBinsAnOctave) {
  EXPECT_EQ(SizeBin(0), 0u);
  EXPECT_EQ(SizeBin(1), 0u);
  EXPECT_EQ(SizeBin(2), 6u);
  EXPECT_EQ(SizeBin(4), 12u);
  EXPECT_EQ(SizeBin(1024), 60u);
  EXPECT_EQ(SizeBin(std::uint64_t{1} << 63), 378u);
  EXPECT_LT(SizeBin(kMost), kSizeBins);
}

TEST(SizeBin, NeverFallsWithSize) {
  for (std::uint64_t size = 1; size < 100'000; ++size) ASSERT_LE(SizeBin(size - 1), SizeBin(size));
}

TEST(SizeHistogram, SumsCountsSizesAndTimesOfABin) {
  SizeHistogram histogram;
  histogram.Add(1024, 2, absl::Seconds(4));  // mean 2 s: squares 2 * 4
  histogram.Add(1030, 1, absl::Seconds(3));
  const auto bins = histogram.bins();
  ASSERT_EQ(bins.size(), 1u);
  EXPECT_EQ(bins[0].count, 3u);
  EXPECT_EQ(bins[0].size_bytes, 3078u);
  EXPECT_DOUBLE_EQ(bins[0].seconds, 7);
  EXPECT_DOUBLE_EQ(bins[0].seconds_squared, 17);
}

TEST(SizeHistogram, RemovesSizesButNeverBelowZero) {
  SizeHistogram histogram;
  histogram.Add(100, 3, absl::ZeroDuration());
  histogram.RemoveSizes(100, 1);
  EXPECT_EQ(histogram.count(), 2u);
  EXPECT_EQ(histogram.size_bytes(), 200u);
  histogram.RemoveSizes(101, 50);
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.size_bytes(), 0u);
  EXPECT_TRUE(histogram.bins().empty());
}

TEST(SizeHistogram, IgnoresEmptyAdditionsAndBinsBeyondTheLast) {
  SizeHistogram histogram;
  histogram.Add(5, 0, absl::Seconds(1));
  histogram.Add(GroupBin{.bin = kSizeBins, .count = 1});
  EXPECT_TRUE(histogram.empty());
}

TEST(SizeHistogram, SaturatesRatherThanWraps) {
  SizeHistogram histogram;
  histogram.Add(kMost, kMost, absl::InfiniteDuration());
  histogram.Add(kMost, kMost, -absl::InfiniteDuration());
  EXPECT_EQ(histogram.count(), kMost);
  EXPECT_EQ(histogram.size_bytes(), kMost);
}

TEST(SizeHistogram, MergeEqualsAddingEverythingToOne) {
  SizeHistogram left, right, both;
  for (std::uint64_t size = 1; size < 5000; size = size * 3 + 1) {
    (size % 2 ? left : right).Add(size, 1, absl::Milliseconds(1));
    both.Add(size, 1, absl::Milliseconds(1));
  }
  left.Merge(right);
  EXPECT_EQ(left.bins(), both.bins());
}

}  // namespace
}  // namespace tidemark::streaming
