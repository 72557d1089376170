#include "master/waits/rate.h"

#include <gtest/gtest.h>

namespace tidemark::blame {
namespace {

Waited Of(double wait_seconds, double units) {
  return {.wait_seconds = wait_seconds,
          .measured_seconds = 10,
          .rated_wait_seconds = wait_seconds,
          .rated_units = units};
}

// Eq. 1: 6 s for 3 units.
TEST(SecondsPerUnit, IsTheWaitOverTheUnits) { EXPECT_EQ(SecondsPerUnit(Of(6, 3)), 2); }

TEST(SecondsPerUnit, WaitForNothingThatWasAskedForIsNoRate) {
  EXPECT_EQ(SecondsPerUnit(Of(6, 0)), std::nullopt);
}

TEST(SecondsPerUnit, WhoNeitherWaitsNorAsksWaitsZero) { EXPECT_EQ(SecondsPerUnit(Of(0, 0)), 0); }

TEST(SecondsPerUnit, WhatWasNotMeasuredIsNotZero) {
  EXPECT_EQ(SecondsPerUnit(Waited{}), std::nullopt);
}

TEST(SecondsPerUnit, WaitsWithoutUnitsDoNotBendTheRateOfThoseThatHaveThem) {
  Waited waited = Of(6, 3);
  waited.wait_seconds += 100;
  EXPECT_EQ(SecondsPerUnit(waited), 2);
}

// FC: 40 s of 50.
TEST(FractionalConcurrency, IsThePartOfTheTargetsTime) {
  EXPECT_EQ(FractionalConcurrency(40, 50), 0.8);
  EXPECT_EQ(FractionalConcurrency(0, 0), 0);
}

// Eq. 2: 0.5 x (4/2) / (1/2) = 2.
TEST(Blame, IsConcurrencyTimesTheRatioOfRates) { EXPECT_EQ(Blame(0.5, Of(4, 2), Of(1, 2)), 2); }

TEST(Blame, SourceThatWaitsForNothingBearsAFiniteOne) {
  EXPECT_EQ(Blame(0.5, Of(4, 2), Of(0, 2)), 0.5 * kRateRatioMax);
}

TEST(Blame, SourceThatAskedForNothingBearsNone) {
  EXPECT_EQ(Blame(1, Of(4, 2), Of(0, 0)), 0);
  EXPECT_EQ(Blame(1, Of(4, 2), Of(5, 0)), std::nullopt);
}

TEST(Blame, TargetThatDoesNotWaitBlamesNobody) {
  EXPECT_EQ(Blame(1, Of(0, 2), Of(1, 2)), 0);
  EXPECT_EQ(Blame(1, Of(0, 2), Of(0, 2)), 0);
}

TEST(Blame, WhatIsNotKnownIsNotZero) {
  EXPECT_EQ(Blame(1, Of(1, 2), Waited{}), std::nullopt);
  EXPECT_EQ(Blame(1, Waited{}, Of(1, 2)), std::nullopt);
}

}  // namespace
}  // namespace tidemark::blame
