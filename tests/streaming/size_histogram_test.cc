#include "streaming/size_histogram.h"

#include "tests/test.h"

namespace tidemark::streaming::size_histogram_test {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

TEST(SizeBin, HasSixBinsPerOctave) {
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

TEST(SizeBin, IsTheIntegerPartOfSixLogarithms) {
  const auto expect_at = [](std::uint64_t size) {
    const double logarithm = std::log2(static_cast<double>(size));
    ASSERT_EQ(SizeBin(size), std::min(383.0, std::floor(6 * logarithm))) << size;
  };
  for (std::uint32_t bin = 0; bin < kSizeBins; ++bin) {
    const auto edge = static_cast<std::uint64_t>(std::exp2(bin / 6.0));
    for (std::uint64_t size = edge > 3 ? edge - 3 : 1; size <= edge + 3; ++size) expect_at(size);
  }
  std::uint64_t size = 1;
  for (int i = 0; i < 10'000; ++i) {
    size = size * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX
    expect_at(std::max<std::uint64_t>(1, size >> (i % 64)));
  }
}

TEST(SizeHistogram, ReturnsBinsInOrder) {
  SizeHistogram histogram;
  for (const std::uint64_t size : {500, 20, 70'000, 21, 1, 500}) {
    histogram.Add(size, 1, absl::Seconds(1));
  }
  std::vector<std::uint32_t> used;
  for (const GroupBin& bin : histogram.bins()) used.push_back(bin.bin);
  EXPECT_EQ(used, (std::vector<std::uint32_t>{0, 25, 26, 53, 96}));
  EXPECT_EQ(histogram.count(), 6u);
  EXPECT_EQ(histogram.size_bytes(), 71'042u);
}

TEST(SizeHistogram, SumsCountsSizesAndTimesOfABin) {
  SizeHistogram histogram;
  histogram.Add(1024, 2, absl::Seconds(4));  // The mean is 2 s, so the squares are 2 * 4.
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
}  // namespace tidemark::streaming::size_histogram_test
