#include "master/forecast/durations/overdue.h"

#include <gtest/gtest.h>

#include "tests/master/events.h"

namespace tidemark::model {
namespace {

using test::At;

constexpr absl::Duration kGrace = absl::Seconds(2);

EndPrediction Says(double at, double left, double more = 1) {
  return {.at = At(at), .end = At(at + left), .lower = At(at), .upper = At(at + left + more)};
}

TEST(Overdue, AForecastThatNothingFollowsIsLate) {
  Overdue overdue;
  EXPECT_EQ(overdue.LateBy(Says(5, 5), 0, kGrace), absl::ZeroDuration());
  EXPECT_EQ(overdue.LateBy(Says(9, 1), 0, kGrace), absl::ZeroDuration());
  EXPECT_EQ(overdue.LateBy(Says(11, 0.5), 0, kGrace), absl::Seconds(1));
  EXPECT_EQ(overdue.LateBy(Says(30, 0), 0, kGrace), absl::Seconds(20));
}

TEST(Overdue, WhatEndsGivesTheForecastANewChance) {
  Overdue overdue;
  overdue.LateBy(Says(9, 1), 0, kGrace);
  EXPECT_EQ(overdue.LateBy(Says(30, 0), 1, kGrace), absl::ZeroDuration());
  EXPECT_EQ(overdue.LateBy(Says(31, 0), 1, kGrace), absl::Seconds(1));
}

TEST(Overdue, AForecastThatHasMovedOnIsNotLate) {
  Overdue overdue;
  overdue.LateBy(Says(9, 1), 0, kGrace);
  EXPECT_EQ(overdue.LateBy(Says(12, 60), 0, kGrace), absl::ZeroDuration());
}

TEST(Overdue, AForecastThatCreepsIsLate) {
  Overdue overdue;
  overdue.LateBy(Says(9, 1), 0, kGrace);
  for (double at = 10; at < 60; ++at) {
    EXPECT_EQ(overdue.LateBy(Says(at, at - 10), 0, kGrace), absl::Seconds(at - 10));
  }
}

TEST(Overdue, ForecastsWithoutAnIntervalPromiseNothing) {
  Overdue overdue;
  EXPECT_EQ(overdue.LateBy({.at = At(9), .end = At(10)}, 0, kGrace), absl::ZeroDuration());
  EXPECT_EQ(overdue.LateBy({.at = At(30)}, 0, kGrace), absl::ZeroDuration());
}

TEST(OpenedByLateness, OpensTheIntervalAtOnce) {
  const EndPrediction opened = OpenedByLateness(Says(11, 0, 0), absl::Seconds(1), kGrace);
  EXPECT_EQ(opened.end, At(11));
  EXPECT_EQ(opened.lower, At(11));
  EXPECT_EQ(opened.upper, At(11 + 19 * 6));
}

TEST(OpenedByLateness, KeepsAnIntervalThatIsWider) {
  const EndPrediction wide = OpenedByLateness(Says(11, 5, 900), absl::Seconds(1), kGrace);
  EXPECT_EQ(wide.end, At(16));
  EXPECT_EQ(wide.upper, At(916));
}

TEST(OpenedByLateness, KeepsTheUpperBoundAboveAnEndWithoutBounds) {
  const EndPrediction opened =
      OpenedByLateness({.at = At(11), .end = At(100'000)}, absl::Seconds(1), kGrace);
  EXPECT_EQ(opened.end, At(100'000));
  EXPECT_EQ(opened.upper, At(100'000));
}

TEST(OpenedByLateness, LeavesAJobThatIsNotLate) {
  const EndPrediction opened = OpenedByLateness(Says(5, 5), absl::ZeroDuration(), kGrace);
  EXPECT_EQ(opened.upper, At(11));
  EXPECT_EQ(opened.lower, At(5));
}

}  // namespace
}  // namespace tidemark::model
