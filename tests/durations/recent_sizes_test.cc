#include "master/forecast/durations/recent_sizes.h"

#include <gtest/gtest.h>

#include <vector>

namespace tidemark::cost {
namespace {

TEST(RecentSizes, WhatCameLastCountsMost) {
  RecentSizes sizes;
  std::vector<GroupBin> finished = {{.bin = 40, .count = 100, .size_bytes = 10'000}};
  sizes.Update(finished, 90'000);
  finished.push_back({.bin = 20, .count = 1000, .size_bytes = 10'000});
  sizes.Update(finished, 80'000);
  ASSERT_EQ(sizes.bins().size(), 2u);
  EXPECT_EQ(sizes.bins()[0].bin, 20u);
  EXPECT_NEAR(sizes.bins()[0].bytes, 10'000, 1e-9);
  // a tenth of all bytes has passed since: half
  EXPECT_NEAR(sizes.bins()[1].bytes, 5'000, 1e-9);
}

TEST(RecentSizes, WhatIsTakenAwayLeavesNothingBelowZero) {
  RecentSizes sizes;
  sizes.Update(std::vector<GroupBin>{{.bin = 3, .count = 5, .size_bytes = 50}}, 100);
  sizes.Update(std::vector<GroupBin>{{.bin = 3, .count = 2, .size_bytes = 20}}, 100);
  for (const RecentSizes::Bin& bin : sizes.bins()) EXPECT_GE(bin.count, 0);
}

}  // namespace
}  // namespace tidemark::cost
