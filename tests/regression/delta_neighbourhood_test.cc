#include "regression/delta_neighbourhood.h"

#include "tests/regression/points.h"
#include "tests/test.h"

namespace tidemark::regression::delta_neighbourhood_test {
namespace {

const std::vector<GroupPoint> kPoints = {PointOf(100, 1, 3), PointOf(110, 5, 1), PointOf(200, 9)};

TEST(DeltaNeighbourhood, WeightsEachPointByItsKeyGroups) {
  const auto mean = DeltaNeighbourhood(kPoints, 16).Find(105);
  ASSERT_TRUE(mean);
  EXPECT_DOUBLE_EQ(mean->seconds, 2);  // (3 x 1 s + 1 x 5 s) / 4
  EXPECT_EQ(mean->groups, 4u);
}

TEST(DeltaNeighbourhood, IncludesBothEndsOfTheInterval) {
  const DeltaNeighbourhood neighbours(kPoints, 10);
  EXPECT_EQ(neighbours.Find(120)->groups, 1u);
  EXPECT_EQ(neighbours.Find(90)->groups, 3u);
  EXPECT_FALSE(neighbours.Find(121));
  EXPECT_FALSE(neighbours.Find(89));
}

TEST(DeltaNeighbourhood, DeltaOfZeroMatchesEqualSizesOnly) {
  const DeltaNeighbourhood neighbours(kPoints, 0);
  EXPECT_TRUE(neighbours.Find(100));
  EXPECT_FALSE(neighbours.Find(101));
}

TEST(DeltaNeighbourhood, SpreadIsTheDeviationOverTheMean) {
  const std::vector<GroupPoint> points = {PointOf(10, 1), PointOf(11, 3)};
  EXPECT_DOUBLE_EQ(DeltaNeighbourhood(points).Find(10)->relative_spread, 0.5);
}

TEST(DeltaNeighbourhood, WithoutPointsFindsNothing) {
  EXPECT_FALSE(DeltaNeighbourhood().Find(1));
  EXPECT_FALSE(DeltaNeighbourhood(std::vector<GroupPoint>{}).Find(1));
}

TEST(DeltaNeighbourhood, HandlesTheLargestSizes) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const std::vector<GroupPoint> points = {PointOf(0, 1), PointOf(kMost, 2)};
  const DeltaNeighbourhood neighbours(points);
  EXPECT_DOUBLE_EQ(neighbours.Find(kMost)->seconds, 2);
  EXPECT_DOUBLE_EQ(neighbours.Find(0)->seconds, 1);
}

}  // namespace
}  // namespace tidemark::regression::delta_neighbourhood_test
