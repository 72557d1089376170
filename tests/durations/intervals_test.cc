#include "master/forecast/durations/intervals.h"

#include "tests/facts/events.h"
#include "tests/test.h"

namespace tidemark::durations::intervals_test {
namespace {

facts::EndPrediction PredictionAt(double at, double end, double lower, double upper) {
  return {.at = At(at), .end = At(end), .lower = At(lower), .upper = At(upper)};
}
facts::EndPrediction PredictionAt(double at, double end) { return PredictionAt(at, end, end, end); }

double SecondsAt(const std::optional<absl::Time>& time) {
  return absl::ToDoubleSeconds(time.value_or(absl::InfinitePast()) - At(0));
}

facts::EndPrediction Widened(IntervalRecord& record, const facts::EndPrediction& prediction) {
  return record.Widen(prediction, 1);
}

TEST(IntervalRecord, LeavesPredictionsWithoutAnInterval) {
  IntervalRecord record;
  EXPECT_FALSE(Widened(record, {.at = At(0)}).end);
  const facts::EndPrediction bare = Widened(record, {.at = At(1), .end = At(9)});
  EXPECT_EQ(bare.end, At(9));
  EXPECT_FALSE(bare.lower);
}

TEST(IntervalRecord, KeepsTheFirstInterval) {
  IntervalRecord record;
  const facts::EndPrediction widened = Widened(record, PredictionAt(0, 100, 90, 120));
  EXPECT_EQ(widened.end, At(100));
  EXPECT_NEAR(SecondsAt(widened.lower), 90, 1e-6);
  EXPECT_NEAR(SecondsAt(widened.upper), 120, 1e-6);
}

// The bounds are 0.9^1.2 of 100 s and 1.2 x 20 s above.
TEST(IntervalRecord, MultipliesTheHalfWidthsOfTheSource) {
  IntervalRecord record;
  const facts::EndPrediction widened = record.Widen(PredictionAt(0, 100, 90, 120), 1.2);
  EXPECT_NEAR(SecondsAt(widened.lower), 100 * std::pow(0.9, 1.2), 1e-6);
  EXPECT_NEAR(SecondsAt(widened.upper), 124, 1e-6);
}

// The limit is twenty times the remaining 10 s. A wider interval of the source itself remains
// unchanged.
TEST(IntervalRecord, NoFactorWidensBeyondTwentyTimesTheRemainingTime) {
  IntervalRecord record;
  EXPECT_NEAR(SecondsAt(record.Widen(PredictionAt(0, 10, 10, 199), 1.2).upper), 200, 1e-6);
  IntervalRecord other;
  EXPECT_NEAR(SecondsAt(other.Widen(PredictionAt(0, 10, 10, 500), 1.2).upper), 500, 1e-6);
}

// The minimum is 8 % of 100 s, below the end as a logarithm: 100 exp(-0.08).
TEST(IntervalRecord, AnIntervalIsAtLeastAShareOfTheRemainingTime) {
  IntervalRecord record;
  const facts::EndPrediction widened = Widened(record, PredictionAt(0, 100));
  EXPECT_NEAR(SecondsAt(widened.lower), 100 * std::exp(-0.08), 1e-6);
  EXPECT_NEAR(SecondsAt(widened.upper), 108, 1e-6);
}

TEST(IntervalRecord, AConstantEndAddsNothing) {
  IntervalRecord record;
  for (int i = 0; i < 50; ++i) Widened(record, PredictionAt(i, 100));
  EXPECT_NEAR(SecondsAt(Widened(record, PredictionAt(50, 100)).upper), 104, 1e-6);
}

// The predictions are at 0, 10, 20 and 40 s. Only the one of 20 s ago is in the second half of that
// time; its end was 6 s later. 60 s remain, 3 times as long. The half-width is 1.645 x 3 x 6,
// compared with the minimum of 8 % of 60. Below the end, both are parts of 60 s.
TEST(IntervalRecord, ExtrapolatesTheErrorsOfEarlierEnds) {
  IntervalRecord record;
  Widened(record, PredictionAt(0, 500));
  Widened(record, PredictionAt(10, 300));
  Widened(record, PredictionAt(20, 106));
  const facts::EndPrediction widened = Widened(record, PredictionAt(40, 100));
  EXPECT_NEAR(SecondsAt(widened.upper), 100 + std::hypot(4.8, 1.645 * 18), 0.01);
  EXPECT_NEAR(SecondsAt(widened.lower), 40 + 60 * std::exp(-std::hypot(0.08, 1.645 * 0.3)), 0.01);
}

// Same forecasts as above, but only moves to a later end raise the upper bound. Their squares count
// twice.
TEST(IntervalRecord, MovesToASoonerEndNeedNotRaiseTheUpperBound) {
  const auto widened_after = [](double end) {
    IntervalRecord record;
    Widened(record, PredictionAt(0, 500));
    Widened(record, PredictionAt(20, end));
    return record.Widen(PredictionAt(40, 100), 1, IntervalRecord::Moves::kLater);
  };
  const double lower = 40 + 60 * std::exp(-std::hypot(0.08, 1.645 * 0.3));
  const facts::EndPrediction sooner = widened_after(106);
  EXPECT_NEAR(SecondsAt(sooner.upper), 104.8, 0.01);
  EXPECT_NEAR(SecondsAt(sooner.lower), lower, 0.01);
  const facts::EndPrediction later = widened_after(94);
  EXPECT_NEAR(SecondsAt(later.upper), 100 + std::hypot(4.8, 1.645 * std::sqrt(2) * 18), 0.01);
  EXPECT_NEAR(SecondsAt(later.lower), lower, 0.01);
}

// Predictions of 10 and 20 s ago were wrong by 6 and 0 s. Their root mean square is sqrt(18), and
// they are 15 s old on average. The remaining time is also 15 s. The minimum is 8 % of that.
TEST(IntervalRecord, ErrorsCountAsTheirRootMeanSquare) {
  IntervalRecord record;
  Widened(record, PredictionAt(0, 500));
  Widened(record, PredictionAt(20, 61));
  Widened(record, PredictionAt(30, 55));
  const facts::EndPrediction widened = Widened(record, PredictionAt(40, 55));
  EXPECT_NEAR(SecondsAt(widened.upper), 55 + std::hypot(1.2, 1.645 * std::sqrt(18.0)), 0.01);
}

// The spread of the source and the error are independent: hypot(5, 1.645 x 6).
TEST(IntervalRecord, AddsToTheSpreadOfTheSource) {
  IntervalRecord record;
  Widened(record, PredictionAt(0, 66));
  const facts::EndPrediction widened = Widened(record, PredictionAt(0.001, 66, 61, 71));
  EXPECT_NEAR(SecondsAt(widened.upper), 66 + std::hypot(0.08 * 65.999, 0), 1e-6);
  IntervalRecord moved;
  Widened(moved, PredictionAt(0, 500));
  Widened(moved, PredictionAt(30, 96));
  EXPECT_NEAR(SecondsAt(Widened(moved, PredictionAt(60, 90, 85, 95)).upper),
              90 + std::hypot(5, 1.645 * 6), 0.01);
}

// The end that was predicted a second ago was wrong by 10 s, and 101 s remain. The error counts at
// most fourfold.
TEST(IntervalRecord, FirstErrorsCountAtMostFourfold) {
  IntervalRecord record;
  Widened(record, PredictionAt(0, 102));
  Widened(record, PredictionAt(10, 102));
  const facts::EndPrediction widened = Widened(record, PredictionAt(11, 112));
  EXPECT_NEAR(SecondsAt(widened.upper), 112 + std::hypot(0.08 * 101, 1.645 * 40), 0.01);
}

TEST(IntervalRecord, RepetitionsAtOneInstantDoNotCount) {
  IntervalRecord once;
  IntervalRecord often;
  for (IntervalRecord* record : {&once, &often}) {
    Widened(*record, PredictionAt(0, 500));
    Widened(*record, PredictionAt(10, 106));
  }
  for (int i = 0; i < 10; ++i) Widened(often, PredictionAt(10, 106));
  EXPECT_EQ(Widened(often, PredictionAt(20, 100)).upper,
            Widened(once, PredictionAt(20, 100)).upper);
}

// The limit is a twentieth of the remaining 10 s. A source may allow an immediate end.
TEST(IntervalRecord, TheLowerBoundIsNowOnlyIfTheSourceAllowsIt) {
  IntervalRecord record;
  Widened(record, PredictionAt(0, 900, 800, 1000));
  Widened(record, PredictionAt(40, 900, 800, 1000));
  EXPECT_NEAR(SecondsAt(Widened(record, PredictionAt(50, 60, 51, 61)).lower), 50.5, 1e-6);
  EXPECT_EQ(Widened(record, PredictionAt(51, 60, 51, 61)).lower, At(51));
}

TEST(IntervalRecord, AnEndInThePastHasAnInterval) {
  IntervalRecord record;
  const facts::EndPrediction widened = Widened(record, PredictionAt(50, 49));
  EXPECT_LE(widened.lower, widened.end);
  EXPECT_GE(widened.upper, widened.end);
}

TEST(IntervalRecord, InfiniteEndsAreIgnored) {
  IntervalRecord record;
  Widened(record, PredictionAt(0, 100, 90, 110));
  Widened(record, {.at = At(5),
                   .end = absl::InfiniteFuture(),
                   .lower = At(5),
                   .upper = absl::InfiniteFuture()});
  Widened(record, {.at = At(6), .end = absl::InfinitePast(), .lower = At(5), .upper = At(9)});
  EXPECT_NEAR(SecondsAt(Widened(record, PredictionAt(10, 100, 90, 110)).upper), 110, 1e-6);
}

TEST(IntervalRecord, KeepsTheStartOfALongRun) {
  IntervalRecord record;
  Widened(record, PredictionAt(0, 10'000));
  for (int i = 1; i < 3000; ++i) Widened(record, PredictionAt(i, 10'000));
  Widened(record, PredictionAt(3000, 9'000));
  // In half of the time, the predicted end changed by a thousand seconds.
  EXPECT_GT(SecondsAt(Widened(record, PredictionAt(3001, 9'000)).upper),
            9'000 + 1.645 * 4'000 * 0.99);
}

// Returns ten predictions, which is the minimum for a score.
std::vector<facts::EndPrediction> TenOf(const facts::EndPrediction& prediction) {
  return {10, prediction};
}

std::vector<PastRun> Runs(std::size_t count, std::optional<double> score) {
  return std::vector<PastRun>(count, {.interval_score = score});
}

TEST(IntervalScore, IsTheDistanceOfTheEndInHalfWidths) {
  const auto too_early = TenOf(PredictionAt(10, 100, 90, 120));
  EXPECT_DOUBLE_EQ(*IntervalScore(too_early, At(0), At(130), 1),
                   1.5);  // 30 above, with a half-width of 20
  const auto too_late = TenOf(PredictionAt(80, 160, 100, 170));
  // The remaining time was 50 s instead of 80 s, and the lower bound allowed 20 s.
  EXPECT_DOUBLE_EQ(*IntervalScore(too_late, At(0), At(130), 1), std::log(1.6) / std::log(4));
}

TEST(IntervalScore, IsThe90thPercentile) {
  std::vector<facts::EndPrediction> predictions;
  for (int i = 1; i <= 10; ++i) predictions.push_back(PredictionAt(i, 100, 90, 110));
  predictions[3].upper = At(101);  // 20 half-widths
  predictions[6].upper = At(105);  // 4
  EXPECT_DOUBLE_EQ(*IntervalScore(predictions, At(0), At(120), 1), 4);
}

TEST(IntervalScore, CountsPredictionsWithAnIntervalWhileTheJobRan) {
  for (const facts::EndPrediction& prediction :
       {facts::EndPrediction{.at = At(1)}, facts::EndPrediction{.at = At(2), .end = At(5)},
        PredictionAt(-1, 5, 4, 6), PredictionAt(11, 15, 14, 16)}) {
    EXPECT_FALSE(IntervalScore(TenOf(prediction), At(0), At(10), 1));
  }
  std::vector<facts::EndPrediction> predictions = TenOf(PredictionAt(1, 5, 4, 6));
  EXPECT_TRUE(IntervalScore(predictions, At(0), At(10), 1));
  predictions.pop_back();
  EXPECT_FALSE(IntervalScore(predictions, At(0), At(10), 1)) << "too few";
}

// A forecast of 5 s at 1 s before the end misses by ln 5, which is many half-widths.
TEST(IntervalScore, LeavesOutTheLastSeconds) {
  std::vector<facts::EndPrediction> predictions = TenOf(PredictionAt(10, 100, 90, 120));
  const double score = *IntervalScore(predictions, At(0), At(130), 1);
  for (int i = 0; i < 10; ++i) predictions.push_back(PredictionAt(129, 134, 133.9, 134.1));
  EXPECT_DOUBLE_EQ(*IntervalScore(predictions, At(0), At(130), 1), score);
}

TEST(IntervalScore, WithoutAWidthIsBounded) {
  const auto predictions = TenOf(PredictionAt(1, 100, 100, 100));
  EXPECT_DOUBLE_EQ(*IntervalScore(predictions, At(0), At(100), 1), 0);
  EXPECT_DOUBLE_EQ(*IntervalScore(predictions, At(0), At(101), 1), 20);
}

// If the score included this factor, each run would cancel the factor of the previous run.
TEST(IntervalScore, ExcludesTheFactorOfPastRuns) {
  const facts::EndPrediction prediction = ScaledByPastRuns(PredictionAt(10, 100, 80, 120), 2);
  EXPECT_DOUBLE_EQ(*IntervalScore(TenOf(prediction), At(0), At(130), 2), 1.5);
}

TEST(WidthFactor, IsOneWithoutScores) {
  EXPECT_EQ(WidthFactor({}), 1);
  EXPECT_EQ(WidthFactor(Runs(8, std::nullopt)), 1);
}

// The 19 prior scores are |z| / 1.64485 at 5, 10 ... 95 %. The 18th score is 1, and the 19th is
// 1.95996 / 1.64485 = 1.19157. With an additional score of 5, the factor has the position 0.9 * 21
// = 18.9.
TEST(WidthFactor, ChangesLittleWithOneRun) {
  EXPECT_NEAR(WidthFactor(Runs(1, 5)), 1 + 0.9 * 0.19157, 1e-5);
}

TEST(WidthFactor, IsThe90thPercentileOverRuns) {
  EXPECT_DOUBLE_EQ(WidthFactor(Runs(8, 2)), 2);
  // The factor has the position 0.9 * 28 = 25.2 of 27. It lies between the 17th prior score,
  // 1.43953 / 1.64485 = 0.87517, and the 18th.
  EXPECT_NEAR(WidthFactor(Runs(8, 0.1)), 0.87517 + 0.2 * (1 - 0.87517), 1e-5);
}

TEST(WidthFactor, IsFiniteAndPositiveForAllScores) {
  const double most = std::numeric_limits<double>::max();
  EXPECT_EQ(WidthFactor(Runs(1000, most)), 20);
  EXPECT_GT(WidthFactor(Runs(8, -most)), 0);
}

TEST(WidthFactor, IgnoresInvalidScores) {
  const double no_number = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(WidthFactor(Runs(8, no_number)), 1);
  std::vector<PastRun> runs = Runs(4, no_number);
  runs.push_back({.interval_score = 5});
  EXPECT_EQ(WidthFactor(runs), WidthFactor(Runs(1, 5)));
}

TEST(ScaledByPastRuns, MultipliesBothHalves) {
  const facts::EndPrediction prediction = ScaledByPastRuns(PredictionAt(10, 100, 90, 120), 2);
  EXPECT_EQ(prediction.end, At(100));
  // 80 of 90 s remain to the lower bound; a double half-width leaves 80 x 80 / 90.
  EXPECT_NEAR(SecondsAt(prediction.lower), 10 + 80 * 80 / 90.0, 1e-6);
  EXPECT_EQ(prediction.upper, At(140));
}

TEST(ScaledByPastRuns, StaysBetweenNowAndTwentyTimesTheRemainingTime) {
  const facts::EndPrediction prediction = ScaledByPastRuns(PredictionAt(90, 100, 92, 250), 10);
  EXPECT_GT(prediction.lower, At(90));
  EXPECT_EQ(prediction.upper, At(100 + 19 * 10));
  EXPECT_EQ(ScaledByPastRuns(PredictionAt(90, 100, 92, 500), 10).upper, At(500));
}

// Times range over 9.2e18 s.
TEST(ScaledByPastRuns, DropsAnIntervalBeyondAllInstants) {
  const facts::EndPrediction prediction = ScaledByPastRuns(PredictionAt(0, 4e18, 3e18, 6e18), 20);
  EXPECT_EQ(prediction.end, At(4e18));
  EXPECT_FALSE(prediction.lower);
  EXPECT_FALSE(prediction.upper);
}

TEST(ScaledByPastRuns, LeavesInvalidIntervals) {
  EXPECT_FALSE(ScaledByPastRuns({.at = At(1)}, 2).end);
  const facts::EndPrediction no_instant = {
      .at = At(1), .end = At(5), .lower = At(4), .upper = absl::InfiniteFuture()};
  EXPECT_EQ(ScaledByPastRuns(no_instant, 2).lower, At(4));
}

constexpr absl::Duration kGrace = absl::Seconds(2);

facts::EndPrediction WithRemaining(double at, double left, double more = 1) {
  return {.at = At(at), .end = At(at + left), .lower = At(at), .upper = At(at + left + more)};
}

TEST(Overdue, AForecastIsLateIfNothingEnds) {
  Overdue overdue;
  EXPECT_EQ(overdue.LateBy(WithRemaining(5, 5), 0, kGrace), absl::ZeroDuration());
  EXPECT_EQ(overdue.LateBy(WithRemaining(9, 1), 0, kGrace), absl::ZeroDuration());
  EXPECT_EQ(overdue.LateBy(WithRemaining(11, 0.5), 0, kGrace), absl::Seconds(1));
  EXPECT_EQ(overdue.LateBy(WithRemaining(30, 0), 0, kGrace), absl::Seconds(20));
}

TEST(Overdue, AnyEndRestartsTheForecast) {
  Overdue overdue;
  overdue.LateBy(WithRemaining(9, 1), 0, kGrace);
  EXPECT_EQ(overdue.LateBy(WithRemaining(30, 0), 1, kGrace), absl::ZeroDuration());
  EXPECT_EQ(overdue.LateBy(WithRemaining(31, 0), 1, kGrace), absl::Seconds(1));
}

TEST(Overdue, AForecastThatMovedFarIsNotLate) {
  Overdue overdue;
  overdue.LateBy(WithRemaining(9, 1), 0, kGrace);
  EXPECT_EQ(overdue.LateBy(WithRemaining(12, 60), 0, kGrace), absl::ZeroDuration());
}

TEST(Overdue, AForecastThatCreepsIsLate) {
  Overdue overdue;
  overdue.LateBy(WithRemaining(9, 1), 0, kGrace);
  for (double at = 10; at < 60; ++at) {
    EXPECT_EQ(overdue.LateBy(WithRemaining(at, at - 10), 0, kGrace), absl::Seconds(at - 10));
  }
}

TEST(Overdue, ForecastsWithoutAnIntervalAreIgnored) {
  Overdue overdue;
  EXPECT_EQ(overdue.LateBy({.at = At(9), .end = At(10)}, 0, kGrace), absl::ZeroDuration());
  EXPECT_EQ(overdue.LateBy({.at = At(30)}, 0, kGrace), absl::ZeroDuration());
}

TEST(OpenedByLateness, OpensTheIntervalAtOnce) {
  const auto opened = OpenedByLateness(WithRemaining(11, 0, 0), absl::Seconds(1), kGrace);
  EXPECT_EQ(opened.end, At(12));
  EXPECT_EQ(opened.lower, At(11));
  EXPECT_EQ(opened.upper, At(11 + 19 * 6));
}

TEST(OpenedByLateness, KeepsAWiderInterval) {
  const auto wide = OpenedByLateness(WithRemaining(11, 5, 900), absl::Seconds(1), kGrace);
  EXPECT_EQ(wide.end, At(16));
  EXPECT_EQ(wide.upper, At(916));
}

TEST(OpenedByLateness, KeepsTheUpperBoundAboveAnEndWithoutBounds) {
  const facts::EndPrediction opened =
      OpenedByLateness({.at = At(11), .end = At(100'000)}, absl::Seconds(1), kGrace);
  EXPECT_EQ(opened.end, At(100'000));
  EXPECT_EQ(opened.upper, At(100'000));
}

TEST(OpenedByLateness, LeavesAForecastThatIsNotLate) {
  const auto opened = OpenedByLateness(WithRemaining(5, 5), absl::ZeroDuration(), kGrace);
  EXPECT_EQ(opened.upper, At(11));
  EXPECT_EQ(opened.lower, At(5));
}

}  // namespace
}  // namespace tidemark::durations::intervals_test
