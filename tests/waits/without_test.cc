#include "master/waits/without.h"

#include <gtest/gtest.h>

#include "tests/waits/some_pieces.h"

namespace tidemark::blame {
namespace {

TEST(Without, OfTheOnlyNeighbourAllIsCertainButWhatElseWasWaitedBesideIt) {
  const std::vector<Neighbour> one = {{.query = Q(1), .seconds = 5, .beside_seconds = 8}};
  const auto limits = LimitsOf(one);
  ASSERT_EQ(limits.size(), 1U);
  EXPECT_EQ(limits[0].lower, 5);
  EXPECT_EQ(limits[0].upper, 8);
}

// 6 s of 10 s, 3 s of 4 s, and one that took nothing in 1 s: of the 6 s others may have taken 5 s
// instead, of the 3 s all.
TEST(Without, OthersMayTakeWhatOneWouldHaveLeft) {
  const std::vector<Neighbour> three = {{.query = Q(1), .seconds = 6, .beside_seconds = 10},
                                        {.query = Q(2), .seconds = 3, .beside_seconds = 4},
                                        {.query = Q(3), .seconds = 0, .beside_seconds = 1}};
  const auto limits = LimitsOf(three);
  ASSERT_EQ(limits.size(), 3U);
  EXPECT_EQ(limits[0].lower, 1);
  EXPECT_EQ(limits[0].upper, 10);
  EXPECT_EQ(limits[1].lower, 0);
  EXPECT_EQ(limits[1].upper, 4);
  EXPECT_EQ(limits[2].lower, 0);
}

// More was taken than it is known to have been there: rounding, or what was told late.
TEST(Without, SecondsAreWithinTheirLimits) {
  const std::vector<Neighbour> one = {{.query = Q(1), .seconds = 5, .beside_seconds = 0}};
  EXPECT_EQ(LimitsOf(one)[0].upper, 5);
  EXPECT_TRUE(LimitsOf({}).empty());
}

}  // namespace
}  // namespace tidemark::blame
