#include "master/forecast/durations/task_times.h"

#include "master/forecast/durations/draws.h"
#include "tests/test.h"

namespace tidemark::durations::task_times_test {
namespace {

TEST(TimeDistribution, EmpiricalQuantilesAreTaskTimes) {
  const TimeDistribution times = TimeDistribution::Empirical({4, 1, 3, 2});
  EXPECT_EQ(times.Quantile(0.1), 1);
  EXPECT_EQ(times.Quantile(0.3), 2);
  EXPECT_EQ(times.Quantile(0.99), 4);
  EXPECT_DOUBLE_EQ(times.mean(), 2.5);
  EXPECT_DOUBLE_EQ(times.variance(), 1.25);
}

// Among tasks of 1, 2, 3 and 4 s, a task that has run for 2 s is one of 3 or 4 s.
TEST(TimeDistribution, ARunningTaskIsOneOfTheLongerTasks) {
  const TimeDistribution times = TimeDistribution::Empirical({4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(times.Remaining(2, 0.25), 1);
  EXPECT_DOUBLE_EQ(times.Remaining(2, 0.75), 2);
}

TEST(TimeDistribution, IsOutlastedByALongerTaskThanAllKnownOnes) {
  const TimeDistribution times = TimeDistribution::Empirical({1, 3});
  EXPECT_FALSE(times.IsOutlastedBy(2.9));
  EXPECT_TRUE(times.IsOutlastedBy(3));
  EXPECT_FALSE(TimeDistribution().IsOutlastedBy(3)) << "no known task";
}

// P(left > t) = late / (late + t).
TEST(LateLeft, ExceedsTheLatenessWithProbabilityOneHalf) {
  EXPECT_DOUBLE_EQ(LateLeft(6, 0.5), 6);
  EXPECT_DOUBLE_EQ(LateLeft(6, 0.75), 18);
  EXPECT_DOUBLE_EQ(LateLeft(-1, 0.5), 0);
}

TEST(TimeDistribution, GrowsTheRestWithTheElapsedTimeBeyondTheLongestTask) {
  const TimeDistribution times = TimeDistribution::Empirical({1, 2});
  EXPECT_NEAR(times.Remaining(10, 0.5), 10 * (std::pow(2, 0.25) - 1), 1e-12);
  EXPECT_DOUBLE_EQ(times.Remaining(20, 0.5), 2 * times.Remaining(10, 0.5));
}

TEST(TimeDistribution, NormalTimesAreNeverNegative) {
  const TimeDistribution times = TimeDistribution::Normal({1, 4});
  EXPECT_EQ(times.Quantile(0.01), 0);
  EXPECT_DOUBLE_EQ(times.Quantile(0.5), 1);
  EXPECT_NEAR(times.Quantile(0.8413447), 3, 1e-5);
}

TEST(TimeDistribution, StaysFiniteForAnyInput) {
  const TimeDistribution odd = TimeDistribution::Empirical({NAN, INFINITY, -1, 2});
  EXPECT_EQ(odd.size(), 1u);
  for (const TimeDistribution& times :
       {odd, TimeDistribution::Normal({NAN, -1}), TimeDistribution::Normal({3, 0}),
        TimeDistribution(), TimeDistribution::Empirical({})}) {
    for (const double u : {1e-12, 0.5, 1 - 1e-12}) {
      for (const double elapsed : {0.0, 2.0, 1e9}) {
        EXPECT_TRUE(std::isfinite(times.Remaining(elapsed, u)));
        EXPECT_GE(times.Remaining(elapsed, u), 0);
      }
      EXPECT_TRUE(std::isfinite(times.Quantile(u)));
    }
  }
}

TEST(TimeDistribution, ScalesWithItsFactor) {
  const TimeDistribution times = TimeDistribution::Empirical({1, 3}).Scaled(2);
  EXPECT_EQ(times.Quantile(0.9), 6);
  EXPECT_DOUBLE_EQ(times.mean(), 4);
  EXPECT_DOUBLE_EQ(times.variance(), 4);
}

}  // namespace
}  // namespace tidemark::durations::task_times_test
