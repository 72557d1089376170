#include "master/forecast/durations/input_pace.h"

#include <gtest/gtest.h>

#include <limits>

namespace tidemark::cost {
namespace {

TEST(ReadShare, WithoutFinishedTasksATaskEndsWithItsInput) {
  const PacedTotal total = ReadShare().TotalOf(10, 0.25);
  EXPECT_DOUBLE_EQ(total.seconds, 40);
  EXPECT_GT(total.deviation, ReadShare().TotalOf(10, 0.75).deviation);
  EXPECT_DOUBLE_EQ(ReadShare().TotalOf(10, 1).deviation, 0);
}

TEST(ReadShare, ExpectsOfATaskWhatFinishedTasksDidAfterTheirLastByte) {
  ReadShare share;
  share.Add(10, 90);
  share.Add(10, 90);
  EXPECT_NEAR(share.TotalOf(10, 1).seconds, 90, 1e-9);
  EXPECT_NEAR(share.TotalOf(5, 0.5).seconds, 90, 1e-9);
  EXPECT_NEAR(share.TotalOf(10, 1).deviation, 0.27, 0.01);
}

TEST(ReadShare, TasksThatDifferMakeItLessSure) {
  ReadShare alike;
  ReadShare unlike;
  for (const double seconds : {20.0, 20.0}) alike.Add(10, seconds);
  for (const double seconds : {12.0, 40.0}) unlike.Add(10, seconds);
  EXPECT_GT(unlike.TotalOf(10, 1).deviation, alike.TotalOf(10, 1).deviation);
}

TEST(ReadShare, IgnoresWhatIsNoTime) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  ReadShare share;
  for (const double bad : {0.0, -1.0, kNan, std::numeric_limits<double>::infinity()}) {
    share.Add(1, bad);
    share.Add(bad > 1 ? kNan : bad, 1);
  }
  share.Add(9, 3);  // a clock that was set
  EXPECT_DOUBLE_EQ(share.TotalOf(7, 2).seconds, 7);
}

}  // namespace
}  // namespace tidemark::cost
