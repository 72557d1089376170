#include "bench/accuracy/metrics.h"

#include "tests/test.h"

namespace tidemark::bench::metrics_test {
namespace {

// Returns a prediction with the given end and an interval around it. All phases last from 100 s to
// 200 s.
Prediction Predicting(double at, std::optional<double> end, double half_width = 0) {
  Prediction prediction = {.at = at, .end = end};
  if (half_width > 0) {
    prediction.lower = *end - half_width;
    prediction.upper = *end + half_width;
  }
  return prediction;
}
Metrics MeasureAll(const std::vector<Prediction>& predictions) {
  return Measure(predictions, 100, 200);
}
const Milestone& AtPercent(int percent, const Metrics& metrics) {
  for (std::size_t i = 0; i < kMilestones.size(); ++i) {
    if (kMilestones[i] == percent) return metrics.at[i];
  }
  static const Milestone kNone;
  return kNone;
}

TEST(Metrics, PerfectPredictionsHaveNoError) {
  const Metrics metrics =
      MeasureAll({Predicting(125, 200), Predicting(150, 200), Predicting(200, 200)});
  EXPECT_EQ(metrics.avg_err, 0);
  EXPECT_EQ(metrics.max_err, 0);
  EXPECT_EQ(metrics.eta_err, 0);
  EXPECT_EQ(metrics.backward, 0);
  EXPECT_FALSE(metrics.coverage90);
  EXPECT_FALSE(metrics.width90);
}

TEST(Metrics, ErrorsAreInPointsOfProgress) {
  // Predicted and true progress are 0 (no prediction) and 0.25, then 50 / 200 and 0.5, then 75 / 80
  // and 0.75, then 1 and 1.
  const Metrics metrics = MeasureAll({Predicting(125, std::nullopt), Predicting(150, 300),
                                      Predicting(175, 180), Predicting(200, 200)});
  EXPECT_DOUBLE_EQ(metrics.avg_err, (25 + 25 + 18.75 + 0) / 4);
  EXPECT_DOUBLE_EQ(metrics.max_err, 25);
  // The terms |e~ - e| / (e - t) are 1 (no prediction), 100 / 50 and 20 / 25. The last update is
  // above 95 %.
  EXPECT_DOUBLE_EQ(metrics.eta_err, (1 + 2 + 0.8) / 3);
}

// The forecast is exact, but half of the phase is shown as 50 / (250 - 100).
TEST(Metrics, TheShownErrorJudgesTheShownProgress) {
  Prediction half = Predicting(150, 200);
  half.shown_end = 250;
  const Metrics metrics = MeasureAll({half, Predicting(200, 200)});
  EXPECT_EQ(metrics.avg_err, 0);
  EXPECT_DOUBLE_EQ(metrics.shown_err, 100 * (1.0 / 2 - 1.0 / 3) / 2);
}

// At half of the phase, the total time is predicted to be 80 to 120 s.
TEST(Metrics, TheRatioIsOfTheBoundsOfTheTotalAtHalf) {
  EXPECT_THAT(MeasureAll({Predicting(150, 200, 20)}).ratio50, Optional(1.5));
  EXPECT_FALSE(MeasureAll({Predicting(150, 200)}).ratio50);
}

TEST(Metrics, ProgressIsAtMostOne) {
  const Metrics metrics = MeasureAll({Predicting(150, 120)});  // The job is overdue.
  EXPECT_DOUBLE_EQ(metrics.avg_err, 50);
  EXPECT_DOUBLE_EQ(metrics.eta_err, 80.0 / 50);
}

TEST(Metrics, UpdatesBeforeTheStartAndAfterTheEndAreIgnored) {
  const Metrics metrics = MeasureAll(
      {Predicting(50, 1000), Predicting(100, 1000), Predicting(150, 200), Predicting(201, 1000)});
  EXPECT_EQ(metrics.avg_err, 0);
}

TEST(Metrics, EtaErrorIsCappedAndOmitsBothEnds) {
  const Metrics metrics = MeasureAll(
      {Predicting(104, 1e9), Predicting(190, 1e9), Predicting(194, 206), Predicting(196, 1e9)});
  EXPECT_DOUBLE_EQ(metrics.eta_err, (5 + 1) / 2.0);
}

TEST(Metrics, StepsBackExceedATenthOfAPoint) {
  // The progress is 0.5, 0.25, 50 / 200.1 (a decrease of 0.012 points) and 0.9.
  const Metrics metrics = MeasureAll(
      {Predicting(125, 150), Predicting(150, 300), Predicting(150, 300.1), Predicting(190, 200)});
  EXPECT_DOUBLE_EQ(metrics.backward, 1.0 / 4);
  EXPECT_DOUBLE_EQ(metrics.backward_shown, 1.0 / 4);
}

TEST(Metrics, CoverageCountsIntervalsThatContainTheEnd) {
  // The widths are 40, 20 and 60, with 80, 50 and 25 s remaining. The second interval ends at 190.
  const Metrics metrics = MeasureAll({Predicting(110, 150), Predicting(120, 190, 20),
                                      Predicting(150, 180, 10), Predicting(175, 200, 30)});
  EXPECT_THAT(metrics.coverage90, Optional(2.0 / 3));
  EXPECT_THAT(metrics.width90, Optional(120.0 / (80 + 50 + 25)));
}

// The first width is limited to 20 x 50. The second width is 10, with 25 s remaining.
TEST(Metrics, AnIntervalIsAtMostTwentyTimesTheRemainingTime) {
  const Metrics metrics = MeasureAll({Predicting(150, 5000, 4000), Predicting(175, 200, 5)});
  EXPECT_THAT(metrics.width90, Optional(1010.0 / 75));
}

TEST(Metrics, MilestonesTakeTheNearestUpdate) {
  const Metrics metrics = MeasureAll({Predicting(102, std::nullopt), Predicting(112, 300),
                                      Predicting(124, 180, 10), Predicting(151, 190, 10)});
  EXPECT_FALSE(AtPercent(2, metrics).end_error);
  EXPECT_THAT(AtPercent(10, metrics).end_error, Optional(1.0));
  EXPECT_FALSE(AtPercent(10, metrics).hit);
  EXPECT_THAT(AtPercent(25, metrics).end_error, Optional(0.2));
  EXPECT_THAT(AtPercent(25, metrics).hit, Optional(false));
  EXPECT_THAT(AtPercent(50, metrics).end_error, Optional(0.1));
  EXPECT_THAT(AtPercent(50, metrics).hit, Optional(true));
  EXPECT_THAT(AtPercent(90, metrics).hit, Optional(true));  // at the last update
}

TEST(Metrics, MetricsWithoutUpdatesAreEmpty) {
  const Metrics metrics = MeasureAll({});
  EXPECT_EQ(metrics.avg_err, 0);
  EXPECT_FALSE(metrics.coverage90);
  EXPECT_FALSE(AtPercent(50, metrics).end_error);
}

}  // namespace
}  // namespace tidemark::bench::metrics_test
