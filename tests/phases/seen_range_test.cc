#include "whatif/phases/seen_range.h"

#include <gtest/gtest.h>

#include <limits>

namespace tidemark::phases {
namespace {

TEST(SeenRange, HoldsWhatLiesBetweenTheLeastAndTheMost) {
  SeenRange range;
  for (const double value : {3.0, -1.0, 2.0}) range.See(value);
  EXPECT_EQ(range.least(), -1);
  EXPECT_EQ(range.most(), 3);
  EXPECT_EQ(range.width(), 4);
  for (const double value : {-1.0, 0.0, 3.0}) EXPECT_FALSE(range.IsBeyond(value)) << value;
  EXPECT_TRUE(range.IsBeyond(-1.1)) << "below";
  EXPECT_TRUE(range.IsBeyond(3.1)) << "above";
}

TEST(SeenRange, ToleratesSoMuchOnEitherSide) {
  SeenRange range;
  range.See(10);
  EXPECT_EQ(range.width(), 0);
  for (const double value : {8.0, 12.0}) {
    EXPECT_TRUE(range.IsBeyond(value)) << value;
    EXPECT_FALSE(range.IsBeyond(value, 2)) << value;
    EXPECT_TRUE(range.IsBeyond(value, 1.5)) << value;
  }
}

TEST(SeenRange, EverythingIsBeyondNothingAndSoIsWhatIsNoNumber) {
  EXPECT_TRUE(SeenRange().IsBeyond(0, 1e9));
  SeenRange range;
  range.See(1);
  EXPECT_TRUE(range.IsBeyond(std::numeric_limits<double>::quiet_NaN(), 1e9));
  EXPECT_TRUE(range.IsBeyond(std::numeric_limits<double>::infinity(), 1e9));
}

}  // namespace
}  // namespace tidemark::phases
