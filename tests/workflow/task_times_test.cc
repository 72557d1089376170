#include "master/workflow/task_times.h"

#include <gtest/gtest.h>

#include <cmath>

#include "master/workflow/skew_estimate.h"
#include "tests/workflow/some_stages.h"

namespace tidemark::workflow {
namespace {

TEST(TaskTimes, EmpiricalQuantilesAreTheTasks) {
  const TaskTimes times = TaskTimes::Empirical({4, 1, 3, 2});
  EXPECT_EQ(times.Quantile(0.1), 1);
  EXPECT_EQ(times.Quantile(0.3), 2);
  EXPECT_EQ(times.Quantile(0.99), 4);
  EXPECT_DOUBLE_EQ(times.mean(), 2.5);
  EXPECT_DOUBLE_EQ(times.variance(), 1.25);
}

// Of 1, 2, 3, 4 s, a task that has run 2 s is one of 3 or 4 s.
TEST(TaskTimes, ATaskThatHasRunIsOneOfTheLonger) {
  const TaskTimes times = TaskTimes::Empirical({4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(times.Remaining(2, 0.25), 1);
  EXPECT_DOUBLE_EQ(times.Remaining(2, 0.75), 2);
}

TEST(TaskTimes, BeyondTheLongestTaskTheRestGrowsWithTheTimeRun) {
  const TaskTimes times = TaskTimes::Empirical({1, 2});
  EXPECT_NEAR(times.Remaining(10, 0.5), 10 * (std::pow(2, 0.25) - 1), 1e-12);
  EXPECT_DOUBLE_EQ(times.Remaining(20, 0.5), 2 * times.Remaining(10, 0.5));
}

TEST(TaskTimes, NormalTimesAreNeverNegative) {
  const TaskTimes times = TaskTimes::Normal({1, 4});
  EXPECT_EQ(times.Quantile(0.01), 0);
  EXPECT_DOUBLE_EQ(times.Quantile(0.5), 1);
  EXPECT_NEAR(times.Quantile(0.8413447), 3, 1e-5);
}

TEST(TaskTimes, StaysFiniteWhateverComes) {
  const TaskTimes odd = TaskTimes::Empirical({NAN, INFINITY, -1, 2});
  EXPECT_EQ(odd.size(), 1u);
  for (const TaskTimes& times : {odd, TaskTimes::Normal({NAN, -1}), TaskTimes::Normal({3, 0}),
                                 TaskTimes(), TaskTimes::Empirical({})}) {
    for (const double u : {1e-12, 0.5, 1 - 1e-12}) {
      for (const double elapsed : {0.0, 2.0, 1e9}) {
        EXPECT_TRUE(std::isfinite(times.Remaining(elapsed, u)));
        EXPECT_GE(times.Remaining(elapsed, u), 0);
      }
      EXPECT_TRUE(std::isfinite(times.Quantile(u)));
    }
  }
}

TEST(TaskTimes, ScalesWithItsFactor) {
  const TaskTimes times = TaskTimes::Empirical({1, 3}).Scaled(2);
  EXPECT_EQ(times.Quantile(0.9), 6);
  EXPECT_DOUBLE_EQ(times.mean(), 4);
  EXPECT_DOUBLE_EQ(times.variance(), 4);
}

// Without variance Algorithm 2 counts whole waves: 5 tasks of 2 s on 2 slots, then 1 of 3 s.
TEST(SkewEstimate, IsListSchedulingOfDrawnTimes) {
  const auto estimate = EstimateWithSkew(
      {Stage(5), Stage(1, {0})}, std::vector{TaskTimes::Normal({2, 0}), TaskTimes::Empirical({3})},
      Slots(2), 4);
  ASSERT_TRUE(estimate.ok()) << estimate.status();
  EXPECT_NEAR(estimate->seconds, 9, 1e-9);
  EXPECT_NEAR(estimate->ends[0], 6, 1e-9);
}

// One wave of as many tasks as slots ends with the longest: with skew later than its mean.
TEST(SkewEstimate, SkewDelaysTheEnd) {
  const auto even =
      EstimateWithSkew({Stage(10)}, std::vector{TaskTimes::Normal({2, 0})}, Slots(10), 20);
  const auto skewed =
      EstimateWithSkew({Stage(10)}, std::vector{TaskTimes::Normal({2, 0.25})}, Slots(10), 20);
  ASSERT_TRUE(even.ok() && skewed.ok());
  EXPECT_NEAR(even->seconds, 2, 1e-9);
  // Theorem 1 with N = D = 10: between 2 + 0.23 x 0.5 x sqrt(log 10) and 2 + sqrt(2) x the same.
  EXPECT_GT(skewed->seconds, 2 + 0.17);
  EXPECT_LT(skewed->seconds, 2 + 1.08);
}

}  // namespace
}  // namespace tidemark::workflow
