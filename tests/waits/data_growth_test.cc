#include "master/waits/data_growth.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace tidemark::blame {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

EarlierBytes Earlier(std::vector<double> bytes) { return *EarlierBytesOf(std::move(bytes)); }

// 300 bytes in 30 s, 0.1 s each: 100 bytes would have taken 10 s.
TEST(DataGrowth, IsTheTimeOfWhatOneEarlierRunDidNotRead) {
  const auto growth = GrowthOf(30, 300, Earlier({100}));
  ASSERT_TRUE(growth);
  EXPECT_DOUBLE_EQ(growth->task_seconds, 20);
  EXPECT_FALSE(growth->task_seconds_lower) << "how much runs differ is not known";
  EXPECT_FALSE(growth->task_seconds_upper);
  EXPECT_DOUBLE_EQ(growth->read_bytes, 300);
  EXPECT_DOUBLE_EQ(growth->earlier_read_bytes, 100);
}

// With the 120 bytes of one run 12 s, with the 90 of another 9 s.
TEST(DataGrowth, LiesBetweenWhatTheEarlierRunsSay) {
  const auto growth = GrowthOf(30, 300, Earlier({100, 120, 90}));
  ASSERT_TRUE(growth);
  EXPECT_DOUBLE_EQ(growth->task_seconds, 20);
  EXPECT_DOUBLE_EQ(*growth->task_seconds_lower, 18);
  EXPECT_DOUBLE_EQ(*growth->task_seconds_upper, 21);
}

// Runs that read 100 and 200 bytes: 150 in the median, 100 apart.
TEST(DataGrowth, IsNotSaidWithinWhatEarlierRunsDiffer) {
  const EarlierBytes earlier = Earlier({200, 100});
  EXPECT_FALSE(GrowthOf(30, 249, earlier));
  EXPECT_FALSE(GrowthOf(30, 250, earlier));
  const auto growth = GrowthOf(30, 300, earlier);
  ASSERT_TRUE(growth);
  EXPECT_DOUBLE_EQ(growth->task_seconds, 15);
  EXPECT_DOUBLE_EQ(*growth->task_seconds_lower, 10);
  EXPECT_DOUBLE_EQ(*growth->task_seconds_upper, 20);
}

TEST(DataGrowth, IsNotSaidOfLittleMoreNorOfLess) {
  EXPECT_FALSE(GrowthOf(30, 105, Earlier({100})));
  EXPECT_FALSE(GrowthOf(30, 100, Earlier({100})));
  EXPECT_FALSE(GrowthOf(30, 50, Earlier({100})));
  const auto growth = GrowthOf(30, 120, Earlier({100}));
  ASSERT_TRUE(growth);
  EXPECT_NEAR(growth->task_seconds, 5, 1e-9);
}

TEST(DataGrowth, IsNotSaidOfWhatIsNotKnown) {
  const EarlierBytes earlier = Earlier({100});
  for (const double odd : {0.0, -1.0, kNan, kInfinity}) {
    EXPECT_FALSE(GrowthOf(odd, 300, earlier)) << odd;
    EXPECT_FALSE(GrowthOf(30, odd, earlier)) << odd;
  }
  const auto huge = GrowthOf(1e300, 1e300, earlier);
  ASSERT_TRUE(huge);
  EXPECT_DOUBLE_EQ(huge->task_seconds, 1e300);
}

TEST(EarlierBytes, LeavesOutRunsThatDoNotTell) {
  EXPECT_FALSE(EarlierBytesOf({}));
  EXPECT_FALSE(EarlierBytesOf({0, -1, kNan, kInfinity}));
  EXPECT_EQ(EarlierBytesOf({4, 0, 2}),
            (EarlierBytes{.least = 2, .median = 3, .most = 4, .is_one = false}));
  EXPECT_EQ(EarlierBytesOf({kNan, 7}),
            (EarlierBytes{.least = 7, .median = 7, .most = 7, .is_one = true}));
}

TEST(DataGrowth, OfSeveralStagesHasTheLimitsThatAllOfThemHave) {
  DataGrowth sum = *GrowthOf(30, 300, Earlier({100, 120, 90}));
  Add(*GrowthOf(30, 300, Earlier({200, 100})), sum);
  EXPECT_DOUBLE_EQ(sum.task_seconds, 35);
  EXPECT_DOUBLE_EQ(*sum.task_seconds_lower, 28);
  EXPECT_DOUBLE_EQ(*sum.task_seconds_upper, 41);
  EXPECT_DOUBLE_EQ(sum.read_bytes, 600);
  EXPECT_DOUBLE_EQ(sum.earlier_read_bytes, 250);
  Add(*GrowthOf(30, 300, Earlier({100})), sum);
  EXPECT_DOUBLE_EQ(sum.task_seconds, 55);
  EXPECT_FALSE(sum.task_seconds_lower);
  EXPECT_FALSE(sum.task_seconds_upper);
}

}  // namespace
}  // namespace tidemark::blame
