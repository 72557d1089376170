#include "master/forecast/durations/interval_record.h"

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
EndPrediction Says(double at, double end) { return Says(at, end, end, end); }

double SecondsAt(const std::optional<absl::Time>& time) {
  return absl::ToDoubleSeconds(time.value_or(absl::InfinitePast()) - At(0));
}

TEST(IntervalRecord, SaysNothingWhereNothingIsSaid) {
  IntervalRecord record;
  EXPECT_FALSE(record.Widen({.at = At(0)}).end);
  const EndPrediction bare = record.Widen({.at = At(1), .end = At(9)});
  EXPECT_EQ(bare.end, At(9));
  EXPECT_FALSE(bare.lower);
}

// 1.2 x 10 below, 1.2 x 20 above.
TEST(IntervalRecord, SpreadsTheFirstIntervalByWhatSourcesMiss) {
  IntervalRecord record;
  const EndPrediction widened = record.Widen(Says(0, 100, 90, 120));
  EXPECT_EQ(widened.end, At(100));
  EXPECT_NEAR(SecondsAt(widened.lower), 88, 1e-6);
  EXPECT_NEAR(SecondsAt(widened.upper), 124, 1e-6);
}

// 8 % of 100 s.
TEST(IntervalRecord, NoEndIsKnownBetterThanAPartOfWhatIsLeft) {
  IntervalRecord record;
  const EndPrediction widened = record.Widen(Says(0, 100));
  EXPECT_NEAR(SecondsAt(widened.lower), 92, 1e-6);
  EXPECT_NEAR(SecondsAt(widened.upper), 108, 1e-6);
}

TEST(IntervalRecord, AnEndThatStandsAddsNothing) {
  IntervalRecord record;
  for (int i = 0; i < 50; ++i) record.Widen(Says(i, 100));
  EXPECT_NEAR(SecondsAt(record.Widen(Says(50, 100)).upper), 104, 1e-6);
}

// Made at 0, 10, 20 and 40; in the later half of that time one, 20 s ago, with an end 6 s later
// than now's. 60 s are left, 3 times as long: 1.645 x 3 x 6, beside the least, 8 % of 60.
TEST(IntervalRecord, CarriesOnWhatEarlierEndsHaveMissed) {
  IntervalRecord record;
  record.Widen(Says(0, 500));
  record.Widen(Says(10, 300));
  record.Widen(Says(20, 106));
  const EndPrediction widened = record.Widen(Says(40, 100));
  EXPECT_NEAR(SecondsAt(widened.upper), 100 + std::hypot(4.8, 1.645 * 18), 0.01);
  EXPECT_NEAR(SecondsAt(widened.lower), 100 - std::hypot(4.8, 1.645 * 18), 0.01);
}

// Of 10 and 20 s ago, off by 6 and 0 s: root mean square sqrt(18), 15 s ago in the mean, so what is
// left, 15 s, is as long; at least 8 % of these.
TEST(IntervalRecord, WhatWasMissedIsARootMeanSquare) {
  IntervalRecord record;
  record.Widen(Says(0, 500));
  record.Widen(Says(20, 61));
  record.Widen(Says(30, 55));
  const EndPrediction widened = record.Widen(Says(40, 55));
  EXPECT_NEAR(SecondsAt(widened.upper), 55 + std::hypot(1.2, 1.645 * std::sqrt(18.0)), 0.01);
}

// The spread of the source and what was missed are independent: hypot(1.2 x 5, 1.645 x 6).
TEST(IntervalRecord, AddsToTheSpreadOfTheSource) {
  IntervalRecord record;
  record.Widen(Says(0, 66));
  const EndPrediction widened = record.Widen(Says(0.001, 66, 61, 71));
  EXPECT_NEAR(SecondsAt(widened.upper), 72, 1e-6);
  IntervalRecord moved;
  moved.Widen(Says(0, 500));
  moved.Widen(Says(30, 96));
  EXPECT_NEAR(SecondsAt(moved.Widen(Says(60, 90, 85, 95)).upper), 90 + std::hypot(6, 1.645 * 6),
              0.01);
}

// The end of a second ago was 10 s off, and 101 s are left: four times that, no more, beside 8 %.
TEST(IntervalRecord, FirstLooksAreCarriedOnFourTimes) {
  IntervalRecord record;
  record.Widen(Says(0, 102));
  record.Widen(Says(10, 102));
  const EndPrediction widened = record.Widen(Says(11, 112));
  EXPECT_NEAR(SecondsAt(widened.upper), 112 + std::hypot(0.08 * 101, 1.645 * 40), 0.01);
}

TEST(IntervalRecord, WhatIsRepeatedAtOneInstantMakesNoEndSurer) {
  IntervalRecord once;
  IntervalRecord often;
  for (IntervalRecord* record : {&once, &often}) {
    record->Widen(Says(0, 500));
    record->Widen(Says(10, 106));
  }
  for (int i = 0; i < 10; ++i) often.Widen(Says(10, 106));
  EXPECT_EQ(often.Widen(Says(20, 100)).upper, once.Widen(Says(20, 100)).upper);
}

// Twenty times the 10 s that are left; what a source itself says beyond that stays as it is.
TEST(IntervalRecord, NoFactorGoesBeyondTwentyTimesWhatIsLeft) {
  EXPECT_NEAR(SecondsAt(IntervalRecord().Widen(Says(0, 10, 10, 199)).upper), 200, 1e-6);
  EXPECT_NEAR(SecondsAt(IntervalRecord().Widen(Says(0, 10, 10, 500)).upper), 500, 1e-6);
}

TEST(IntervalRecord, LowerBoundsAreNotBeforeNow) {
  EXPECT_EQ(IntervalRecord().Widen(Says(50, 60, 51, 61)).lower, At(50));
}

TEST(IntervalRecord, AnEndThatHasPassedHasAnInterval) {
  const EndPrediction widened = IntervalRecord().Widen(Says(50, 49));
  EXPECT_LE(widened.lower, widened.end);
  EXPECT_GE(widened.upper, widened.end);
}

TEST(IntervalRecord, EndsThatAreNoInstantTeachNothing) {
  IntervalRecord record;
  record.Widen(Says(0, 100, 90, 110));
  record.Widen({.at = At(5),
                .end = absl::InfiniteFuture(),
                .lower = At(5),
                .upper = absl::InfiniteFuture()});
  record.Widen({.at = At(6), .end = absl::InfinitePast(), .lower = At(5), .upper = At(9)});
  EXPECT_NEAR(SecondsAt(record.Widen(Says(10, 100, 90, 110)).upper), 112, 1e-6);
}

TEST(IntervalRecord, RemembersTheStartOfALongRun) {
  IntervalRecord record;
  record.Widen(Says(0, 10'000));
  for (int i = 1; i < 3000; ++i) record.Widen(Says(i, 10'000));
  record.Widen(Says(3000, 9'000));
  // Half of the time, in which the end stood a thousand seconds later.
  EXPECT_GT(SecondsAt(record.Widen(Says(3001, 9'000)).upper), 9'000 + 1.645 * 4'000 * 0.99);
}

}  // namespace
}  // namespace tidemark::model
