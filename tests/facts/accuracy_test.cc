#include "master/facts/accuracy.h"

#include "tests/facts/events.h"
#include "tests/test.h"

namespace tidemark::facts::accuracy_test {
namespace {

EndPrediction Said(double at, std::optional<double> end) {
  EndPrediction prediction{.at = At(at)};
  if (end) prediction.end = At(*end);
  return prediction;
}

EndPrediction SaidBetween(double at, double lower, double upper) {
  return {At(at), At((lower + upper) / 2), At(lower), At(upper)};
}

TEST(Progress, IsTheElapsedShareOfTheTime) {
  EXPECT_DOUBLE_EQ(Progress(At(10), At(20), At(50)), 0.25);
  EXPECT_EQ(Progress(At(10), At(20), std::nullopt), 0) << "without an end";
  EXPECT_EQ(Progress(At(10), At(5), At(50)), 0) << "before the start";
  EXPECT_EQ(Progress(At(10), At(10), At(50)), 0);
  EXPECT_EQ(Progress(At(10), At(60), At(50)), 1) << "after the end";
  EXPECT_EQ(Progress(At(10), At(20), At(5)), 1) << "an end before the start";
  EXPECT_EQ(Progress(At(10), At(20), absl::InfinitePast()), 1);
}

TEST(Progress, IsFiniteForAllInstants) {
  EXPECT_EQ(Progress(At(10), At(20), absl::InfiniteFuture()), 0);
  EXPECT_EQ(Progress(absl::InfinitePast(), At(20), absl::InfinitePast()), 1);
  const double all = Progress(absl::InfinitePast(), At(20), absl::InfiniteFuture());
  EXPECT_GE(all, 0);
  EXPECT_LE(all, 1);
}

// The phase lasts from 0 to 100 s. At 20 s, the prediction is 40 s, so the error is |20/40 -
// 20/100| = 30 points. At 50 s, the prediction is 125 s, so the error is |50/125 - 50/100| = 10
// points.
TEST(ErrorOf, IsTheMeanAndTheLargestDifferenceInPoints) {
  const ProgressError error = ErrorOf(std::vector{Said(20, 40), Said(50, 125)}, At(0), At(100));
  EXPECT_DOUBLE_EQ(error.average_points, 20);
  EXPECT_DOUBLE_EQ(error.largest_points, 30);
  EXPECT_EQ(error.updates, 2u);
}

// The forecast end is exact, but 20/40 is shown: |20/40 - 20/100| = 30 points.
TEST(ErrorOf, JudgesTheShownProgress) {
  EndPrediction prediction = Said(20, 100);
  prediction.shown_end = At(40);
  EXPECT_DOUBLE_EQ(ErrorOf(std::vector{prediction}, At(0), At(100)).average_points, 30);
}

TEST(ErrorOf, CountsNoDataAsZeroPercentAndAnEndInThePastAsDone) {
  EXPECT_DOUBLE_EQ(ErrorOf(std::vector{Said(30, {})}, At(0), At(100)).average_points, 30);
  EXPECT_DOUBLE_EQ(ErrorOf(std::vector{Said(30, 20)}, At(0), At(100)).average_points, 70);
}

TEST(ErrorOf, IgnoresUpdatesOutsideThePhase) {
  const std::vector updates = {Said(10, 11), Said(9, 11), Said(110, 500), Said(100, 100)};
  const ProgressError error = ErrorOf(updates, At(10), At(100));
  EXPECT_EQ(error.updates, 1u) << "not at the start or after the end";
  EXPECT_EQ(error.largest_points, 0);
}

TEST(ErrorOf, IsZeroWithoutUpdates) {
  const ProgressError error = ErrorOf({}, At(0), At(100));
  EXPECT_EQ(error.average_points, 0);
  EXPECT_EQ(error.largest_points, 0);
}

TEST(IntervalCoverage, IsTheShareOfIntervalsWithTheEnd) {
  const auto coverage = [](const std::vector<EndPrediction>& updates) {
    return IntervalCoverage(updates, At(0), At(100));
  };
  EXPECT_DOUBLE_EQ(coverage({SaidBetween(10, 90, 110), SaidBetween(20, 100, 120),
                             SaidBetween(30, 20, 99), SaidBetween(40, 101, 150)})
                       .value(),
                   0.5);
  EXPECT_DOUBLE_EQ(coverage({SaidBetween(10, 90, 110), Said(20, 100), Said(30, {})}).value(), 1)
      << "updates without an interval do not count";
  EXPECT_FALSE(coverage({Said(10, 20)})) << "without intervals";
  EXPECT_FALSE(coverage({SaidBetween(200, 1, 2)}));
}

// The widths are 40 and 20, with 80 and 40 s remaining.
TEST(IntervalWidth, IsAShareOfTheRemainingTime) {
  const std::vector updates = {SaidBetween(20, 90, 130), SaidBetween(60, 100, 120), Said(70, 90)};
  EXPECT_DOUBLE_EQ(IntervalWidth(updates, At(0), At(100)).value(), 0.5);
}

// The first width is limited to 20 x 50. The second width is 10, with 50 s remaining.
TEST(IntervalWidth, IsAtMostTwentyTimesTheRemainingTime) {
  const std::vector updates = {SaidBetween(50, 60, 9000), SaidBetween(50, 95, 105)};
  EXPECT_DOUBLE_EQ(IntervalWidth(updates, At(0), At(100)).value(), 10.1);
}

TEST(IntervalWidth, IsUnknownWithoutIntervalsOrRemainingTime) {
  EXPECT_FALSE(IntervalWidth(std::vector{Said(10, 20)}, At(0), At(100)).has_value());
  EXPECT_FALSE(IntervalWidth(std::vector{SaidBetween(100, 1, 2)}, At(0), At(100)).has_value());
}

TEST(PredictionHistory, KeepsAtMostItsCapacity) {
  PredictionHistory history(4);
  for (int i = 0; i < 100; ++i) {
    history.Add(Said(i, {}));
    EXPECT_LE(history.predictions().size(), 4u);
  }
  EXPECT_EQ(history.predictions().front().at, At(0));
}

TEST(PredictionHistory, KeepsAllPredictionsUntilItIsFull) {
  PredictionHistory history;
  for (int i = 0; i < 1024; ++i) history.Add(Said(i, {}));
  ASSERT_EQ(history.predictions().size(), 1024u);
  EXPECT_EQ(history.predictions().back().at, At(1023));
}

TEST(PredictionHistory, DropsEverySecondPredictionWhenFull) {
  PredictionHistory history;
  for (int i = 0; i < 20'000; ++i) history.Add(Said(i, {}));
  const auto kept = history.predictions();
  EXPECT_LE(kept.size(), 1024u);
  EXPECT_GE(kept.size(), 512u);
  EXPECT_EQ(kept.front().at, At(0));
  for (std::size_t i = 1; i < kept.size(); ++i) {
    ASSERT_EQ(kept[i].at - kept[i - 1].at, kept[1].at - kept[0].at) << i;
  }
}

}  // namespace
}  // namespace tidemark::facts::accuracy_test
