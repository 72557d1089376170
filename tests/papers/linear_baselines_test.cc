#include "master/forecast/papers/linear_baselines.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace tidemark::papers {
namespace {

TEST(HadoopProgress, ATaskWithoutDataIsDoneAndOneThatReadTooMuchNoMoreThanThat) {
  const std::vector<TaskWork> tasks = {{0, 0, 0}, {10, 50, 1}, {10, 0, 0}};
  EXPECT_DOUBLE_EQ(HadoopProgress(tasks), 2.0 / 3);
  EXPECT_DOUBLE_EQ(HadoopProgress({}), 1);
}

TEST(JobSecondsPerByte, IsUnknownBeforeTheFirstByte) {
  EXPECT_FALSE(JobSecondsPerByte({}));
  EXPECT_FALSE(JobSecondsPerByte(std::vector<TaskWork>{{100, 0, 0}}));
}

TEST(TaskSecondsPerByte, IsTheJobsWhileTheTaskHasDoneLittle) {
  EXPECT_DOUBLE_EQ(TaskSecondsPerByte({1000, 49, 49}, 0.5), 0.5);
  EXPECT_DOUBLE_EQ(TaskSecondsPerByte({1000, 50, 50}, 0.5), 1);
  EXPECT_DOUBLE_EQ(TaskSecondsPerByte({0, 0, 0}, 0.5), 0.5);
}

TEST(RatioRemainingSeconds, IsNeverBelowZero) {
  EXPECT_DOUBLE_EQ(RatioRemainingSeconds({100, 150, 1}, 2), 0);
  EXPECT_DOUBLE_EQ(RatioRemainingSeconds({100, 40, 1}, 2), 120);
}

TEST(Ewma, StartsAtTheFirstValueAndThenMovesSlowly) {
  Ewma average(0.9);
  EXPECT_FALSE(average.value());
  EXPECT_DOUBLE_EQ(average.Update(10), 10);
  EXPECT_DOUBLE_EQ(average.Update(20), 11);
  Ewma plain(0);
  plain.Update(10);
  EXPECT_DOUBLE_EQ(plain.Update(20), 20);
  EXPECT_DOUBLE_EQ(Ewma(std::numeric_limits<double>::quiet_NaN()).Update(3), 3);
}

}  // namespace
}  // namespace tidemark::papers
