#include "master/model/interval_record.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "tests/master/events.h"

namespace tidemark::model {
namespace {

using test::At;

EndPrediction Says(double at, double end, double lower, double upper) {
  return {.at = At(at), .end = At(end), .lower = At(lower), .upper = At(upper)};
}

double SecondsAt(const std::optional<absl::Time>& time) {
  return absl::ToDoubleSeconds(time.value_or(absl::InfinitePast()) - At(0));
}

TEST(IntervalRecord, SaysNothingWhereNothingIsSaid) {
  IntervalRecord record;
  EXPECT_FALSE(record.Widen({.at = At(0)}).end);
  const EndPrediction bare = record.Widen({.at = At(1), .end = At(9)});
  EXPECT_EQ(bare.end, At(9));
  EXPECT_FALSE(bare.lower);
  EXPECT_EQ(record.factor(), 1);
}

// 1.2 x 10 below, 1.2 x 20 above.
TEST(IntervalRecord, SpreadsTheFirstIntervalByWhatSourcesMiss) {
  IntervalRecord record;
  const EndPrediction given = record.Widen(Says(0, 100, 90, 120));
  EXPECT_EQ(given.end, At(100));
  EXPECT_NEAR(SecondsAt(given.lower), 88, 1e-6);
  EXPECT_NEAR(SecondsAt(given.upper), 124, 1e-6);
}

// 8 % of 100 s.
TEST(IntervalRecord, NoEndIsKnownBetterThanAPartOfWhatIsLeft) {
  IntervalRecord record;
  const EndPrediction given = record.Widen(Says(0, 100, 100, 100));
  EXPECT_NEAR(SecondsAt(given.lower), 92, 1e-6);
  EXPECT_NEAR(SecondsAt(given.upper), 108, 1e-6);
}

// Made at 0, 10, 20; the later half of that time holds the last two, with ends 106 and 100: the
// root mean square of 6 and 0 is sqrt(18), and 1.645 times that is more than 8 % of 80 s.
TEST(IntervalRecord, AnEndThatHasMovedIsKnownNoBetter) {
  IntervalRecord record;
  record.Widen(Says(0, 500, 0, 1000));
  record.Widen(Says(10, 106, 20, 190));
  const EndPrediction given = record.Widen(Says(20, 100, 100, 100));
  EXPECT_EQ(record.factor(), 1);
  EXPECT_NEAR(SecondsAt(given.upper), 100 + 1.645 * std::sqrt(18.0), 0.01);
  EXPECT_NEAR(SecondsAt(given.lower), 100 - 1.645 * std::sqrt(18.0), 0.01);
}

// At 10 the only interval, 92 to 108, misses 200: ln f = 10 x (1 - 0.1) x 10 / 200 = 0.45, so that
// the next is 200 -+ e^0.45 x 8 % of 190 s. At 20 it holds and the first does not:
// ln f = 0.45 + 10 x (0.5 - 0.1) x 10 / 200 = 0.65.
TEST(IntervalRecord, GrowsWhileEarlierIntervalsMissWhatIsBelievedNow) {
  IntervalRecord record;
  record.Widen(Says(0, 100, 100, 100));
  const EndPrediction given = record.Widen(Says(10, 200, 200, 200));
  EXPECT_NEAR(record.factor(), std::exp(0.45), 1e-9);
  EXPECT_NEAR(SecondsAt(given.upper), 200 + std::exp(0.45) * 15.2, 1e-6);
  record.Widen(Says(20, 200, 200, 200));
  EXPECT_NEAR(record.factor(), std::exp(0.65), 1e-9);
}

TEST(IntervalRecord, GoesBackToOneOnceNineOfTenHoldAndNeverBelow) {
  IntervalRecord record;
  record.Widen(Says(0, 100, 100, 100));
  record.Widen(Says(10, 200, 200, 200));
  ASSERT_GT(record.factor(), 1);
  for (int i = 11; i < 190; ++i) record.Widen(Says(i, 200, 190, 210));
  EXPECT_EQ(record.factor(), 1);
}

TEST(IntervalRecord, StopsAtEightTimes) {
  IntervalRecord record;
  double end = 100;
  for (int i = 0; i < 100; ++i) record.Widen(Says(i, end *= 1.5, end, end));
  EXPECT_NEAR(record.factor(), 8, 1e-9);
}

TEST(IntervalRecord, WhatIsRepeatedAtOneInstantTeachesNothing) {
  IntervalRecord record;
  record.Widen(Says(0, 100, 100, 100));
  const EndPrediction once = record.Widen(Says(10, 200, 200, 200));
  const double factor = record.factor();
  for (int i = 0; i < 5; ++i) {
    const EndPrediction again = record.Widen(Says(10, 200, 200, 200));
    EXPECT_EQ(again.lower, once.lower);
    EXPECT_EQ(again.upper, once.upper);
  }
  EXPECT_EQ(record.factor(), factor);
}

// Twenty times the 10 s that are left; what a source itself says beyond that stays as it is.
TEST(IntervalRecord, NoFactorGoesBeyondTwentyTimesWhatIsLeft) {
  EXPECT_NEAR(SecondsAt(IntervalRecord().Widen(Says(0, 10, 10, 199)).upper), 200, 1e-6);
  EXPECT_NEAR(SecondsAt(IntervalRecord().Widen(Says(0, 10, 10, 500)).upper), 500, 1e-6);
}

TEST(IntervalRecord, LowerBoundsAreNotBeforeNow) {
  IntervalRecord record;
  EXPECT_EQ(record.Widen(Says(50, 60, 51, 61)).lower, At(50));
}

// An end that was predicted for a moment ago stays the lower bound's limit.
TEST(IntervalRecord, AnEndThatHasPassedHasAnInterval) {
  IntervalRecord record;
  const EndPrediction given = record.Widen(Says(50, 49, 49, 49));
  EXPECT_LE(given.lower, given.end);
  EXPECT_GE(given.upper, given.end);
}

TEST(IntervalRecord, EndsThatAreNoInstantTeachNothing) {
  IntervalRecord record;
  record.Widen(Says(0, 100, 90, 110));
  record.Widen({.at = At(5),
                .end = absl::InfiniteFuture(),
                .lower = At(5),
                .upper = absl::InfiniteFuture()});
  record.Widen({.at = At(6), .end = absl::InfinitePast(), .lower = At(5), .upper = At(9)});
  EXPECT_EQ(record.factor(), 1);
  EXPECT_NEAR(SecondsAt(record.Widen(Says(10, 100, 90, 110)).upper), 112, 1e-6);
}

}  // namespace
}  // namespace tidemark::model
