#include "streaming/nth_heaviest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace tidemark::streaming {
namespace {

TEST(NthHeaviest, CountsThoseAboveAndNotItsEquals) {
  const std::vector<std::uint64_t> counts = {5, 9, 5, 7, 5};
  EXPECT_EQ(NthHeaviest(counts, 0, 0), (NthCount{9, 0}));
  EXPECT_EQ(NthHeaviest(counts, 1, 0), (NthCount{7, 1}));
  for (const std::size_t n : {2, 3, 4}) EXPECT_EQ(NthHeaviest(counts, n, 5), (NthCount{5, 2}));
}

TEST(NthHeaviest, TakesTheWholeRangeOfNumbers) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const std::vector<std::uint64_t> counts = {0, kMost, kMost - 1, 1};
  EXPECT_EQ(NthHeaviest(counts, 0, 0), (NthCount{kMost, 0}));
  EXPECT_EQ(NthHeaviest(counts, 1, 0), (NthCount{kMost - 1, 1}));
  EXPECT_EQ(NthHeaviest(counts, 3, 0), (NthCount{0, 3}));
}

TEST(NthHeaviest, IsWhatSortingFinds) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::uint64_t> counts(1 + random() % 300);
    for (auto& count : counts) count = 1000 + (random() >> (random() % 64)) / 2;
    std::vector<std::uint64_t> sorted = counts;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    const std::size_t n = random() % counts.size();
    const auto first = std::find(sorted.begin(), sorted.end(), sorted[n]) - sorted.begin();
    EXPECT_EQ(NthHeaviest(counts, n, 1000), (NthCount{sorted[n], static_cast<std::size_t>(first)}));
  }
}

}  // namespace
}  // namespace tidemark::streaming
