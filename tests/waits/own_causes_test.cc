#include "master/waits/own_causes.h"

#include "tests/test.h"

namespace tidemark::waits::own_causes_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

PastBytes Earlier(std::vector<double> bytes) { return *PastBytesOf(std::move(bytes)); }

// 300 bytes took 30 s, so 100 bytes would have taken 10 s.
TEST(DataGrowth, IsTheTimeForTheBytesBeyondOnePastRun) {
  const auto growth = GrowthOf(30, 300, Earlier({100}));
  ASSERT_TRUE(growth);
  EXPECT_DOUBLE_EQ(growth->task_seconds, 20);
  EXPECT_FALSE(growth->task_seconds_lower) << "the spread of runs is unknown";
  EXPECT_FALSE(growth->task_seconds_upper);
  EXPECT_DOUBLE_EQ(growth->read_bytes, 300);
  EXPECT_DOUBLE_EQ(growth->earlier_read_bytes, 100);
}

// The 120 bytes of one run would have taken 12 s, and the 90 bytes of another run 9 s.
TEST(DataGrowth, LiesBetweenTheLimitsOfPastRuns) {
  const auto growth = GrowthOf(30, 300, Earlier({100, 120, 90}));
  ASSERT_TRUE(growth);
  EXPECT_DOUBLE_EQ(growth->task_seconds, 20);
  EXPECT_DOUBLE_EQ(*growth->task_seconds_lower, 18);
  EXPECT_DOUBLE_EQ(*growth->task_seconds_upper, 21);
}

// Past runs read 100 and 200 bytes. Their median is 150, and their spread is 100.
TEST(DataGrowth, IsUnknownWithinTheSpreadOfPastRuns) {
  const PastBytes earlier = Earlier({200, 100});
  EXPECT_FALSE(GrowthOf(30, 249, earlier));
  EXPECT_FALSE(GrowthOf(30, 250, earlier));
  const auto growth = GrowthOf(30, 300, earlier);
  ASSERT_TRUE(growth);
  EXPECT_DOUBLE_EQ(growth->task_seconds, 15);
  EXPECT_DOUBLE_EQ(*growth->task_seconds_lower, 10);
  EXPECT_DOUBLE_EQ(*growth->task_seconds_upper, 20);
}

TEST(DataGrowth, IsUnknownForLittleOrNoGrowth) {
  EXPECT_FALSE(GrowthOf(30, 105, Earlier({100})));
  EXPECT_FALSE(GrowthOf(30, 100, Earlier({100})));
  EXPECT_FALSE(GrowthOf(30, 50, Earlier({100})));
  const auto growth = GrowthOf(30, 120, Earlier({100}));
  ASSERT_TRUE(growth);
  EXPECT_NEAR(growth->task_seconds, 5, 1e-9);
}

TEST(DataGrowth, IsUnknownForInvalidAmounts) {
  const PastBytes earlier = Earlier({100});
  for (const double odd : {0.0, -1.0, kNan, kInfinity}) {
    EXPECT_FALSE(GrowthOf(odd, 300, earlier)) << odd;
    EXPECT_FALSE(GrowthOf(30, odd, earlier)) << odd;
  }
  const auto huge = GrowthOf(1e300, 1e300, earlier);
  ASSERT_TRUE(huge);
  EXPECT_DOUBLE_EQ(huge->task_seconds, 1e300);
}

TEST(PastBytes, IgnoresRunsWithoutBytes) {
  EXPECT_FALSE(PastBytesOf({}));
  EXPECT_FALSE(PastBytesOf({0, -1, kNan, kInfinity}));
  EXPECT_EQ(PastBytesOf({4, 0, 2}),
            (PastBytes{.least = 2, .median = 3, .most = 4, .is_one = false}));
  EXPECT_EQ(PastBytesOf({kNan, 7}),
            (PastBytes{.least = 7, .median = 7, .most = 7, .is_one = true}));
}

TEST(DataGrowth, SumHasLimitsIfAllStagesHaveThem) {
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

TEST(LongestGroup, IsTheSlowestGroupNotTheLargest) {
  ReduceProfile profile;
  profile.points = {{.size_bytes = 300, .count = 1, .total_time = absl::Seconds(2)},
                    {.size_bytes = 900, .count = 1, .total_time = absl::Seconds(1)}};
  profile.finished_keys = {{.size_bytes = 700, .time = absl::Seconds(5)},
                           {.size_bytes = 800, .time = absl::Seconds(4)}};
  EXPECT_EQ(LongestGroupOf(profile), (LongestGroup{700, absl::Seconds(5)}));
}

TEST(LongestGroup, MayBeTheOnlyGroupOfABin) {
  ReduceProfile profile;
  profile.bins = {{.bin = 3, .count = 2, .size_bytes = 16, .seconds = 90},
                  {.bin = 9, .count = 1, .size_bytes = 700, .seconds = 5}};
  EXPECT_EQ(LongestGroupOf(profile), (LongestGroup{700, absl::Seconds(5)}));
}

TEST(LongestGroup, GroupsTimedTogetherDoNotCount) {
  ReduceProfile profile;
  profile.points = {{.size_bytes = 300, .count = 9, .total_time = absl::Seconds(90)}};
  profile.finished_keys = {{.size_bytes = 700, .time = absl::ZeroDuration()}};
  EXPECT_EQ(LongestGroupOf(profile), LongestGroup{});
}

TEST(LongestGroup, ImpossibleTimesAreIgnored) {
  ReduceProfile profile;
  profile.finished_keys = {{.size_bytes = 1, .time = absl::InfiniteDuration()},
                           {.size_bytes = 2, .time = -absl::Seconds(3)},
                           {.size_bytes = 3, .time = absl::Seconds(1)}};
  EXPECT_EQ(LongestGroupOf(profile), (LongestGroup{3, absl::Seconds(1)}));
}

}  // namespace
}  // namespace tidemark::waits::own_causes_test
