#include "master/forecast/papers/nearest_fit.h"

#include <gtest/gtest.h>

#include "tests/regression/points.h"

namespace tidemark::papers {
namespace {

using regression::OnCurve;
using regression::PointOf;
using regression::Sizes;

const auto kQuadratic = OnCurve(Sizes(100, 100, 20), 0, 1e-6, 2);

// No curve explains these times: R^2 stays below 0.9.
std::vector<GroupPoint> Scattered() {
  std::vector<GroupPoint> points;
  for (int i = 0; i < 20; ++i) {
    points.push_back(PointOf(1000 + 100 * static_cast<std::uint64_t>(i), i % 2 == 0 ? 1 : 9));
  }
  return points;
}

GroupPrediction Predict(const std::vector<std::vector<GroupPoint>>& tasks, std::size_t task,
                        std::uint64_t size_bytes) {
  std::vector<std::shared_ptr<const TaskModel>> models;
  for (const auto& points : tasks) {
    models.push_back(points.empty() ? nullptr : MakeTaskModel(points));
  }
  return *NearestFitModel(models).Predict(task, size_bytes);
}

TEST(NearestFit, FirstTakesTheTasksOwnNeighbours) {
  const auto prediction = Predict({kQuadratic, {PointOf(500, 99)}}, 0, 510);
  EXPECT_EQ(prediction.source, PredictionSource::kOwnNeighbours);
  EXPECT_NEAR(prediction.seconds, 0.25, 1e-9);
}

TEST(NearestFit, SecondTakesTheTasksOwnCurve) {
  const auto prediction = Predict({kQuadratic, {PointOf(5000, 99)}}, 0, 5000);
  EXPECT_EQ(prediction.source, PredictionSource::kOwnFit);
  EXPECT_NEAR(prediction.seconds, 25, 0.1);
}

TEST(NearestFit, ThirdTakesNeighboursOfAnyTask) {
  const auto prediction = Predict({Scattered(), {PointOf(5000, 7)}}, 0, 5010);
  EXPECT_EQ(prediction.source, PredictionSource::kOtherNeighbours);
  EXPECT_DOUBLE_EQ(prediction.seconds, 7);
}

TEST(NearestFit, FourthTakesTheCurveThatFitsTheTasksOwnPointsBest) {
  // Task 0 has too few points for a curve of its own; they lie on the curve of task 2.
  const auto cubic = OnCurve(Sizes(100, 100, 20), 0, 1e-9, 3);
  const auto own = OnCurve({150, 1150}, 0, 1e-9, 3);
  const auto prediction = Predict({own, kQuadratic, cubic}, 0, 5000);
  EXPECT_EQ(prediction.source, PredictionSource::kOtherFit);
  EXPECT_NEAR(prediction.seconds, 125, 2);
}

TEST(NearestFit, ATaskThatHasShownNothingTakesTheCurveOfBestRSquared) {
  const auto prediction = Predict({{}, kQuadratic, Scattered()}, 0, 5000);
  EXPECT_EQ(prediction.source, PredictionSource::kOtherFit);
  EXPECT_NEAR(prediction.seconds, 25, 0.1);
}

TEST(NearestFit, WithoutCurvesTakesPlainSecondsPerByte) {
  const auto prediction = Predict({{PointOf(100, 1)}, {PointOf(300, 7)}}, 0, 4000);
  EXPECT_EQ(prediction.source, PredictionSource::kRatio);
  EXPECT_DOUBLE_EQ(prediction.seconds, 4000 * 8.0 / 400);
}

TEST(NearestFit, SaysNothingBeforeTheFirstKeyGroup) {
  EXPECT_FALSE(NearestFitModel({}).Predict(0, 10));
  EXPECT_FALSE(NearestFitModel({nullptr, nullptr}).Predict(1, 10));
}

TEST(NearestFit, SpreadGrowsWithExtrapolation) {
  const double near = Predict({kQuadratic}, 0, 3000).relative_spread;
  const double far = Predict({kQuadratic}, 0, 30000).relative_spread;
  EXPECT_GT(far, near + 0.2);  // 8 % an octave, over three octaves
}

TEST(NearestFit, OrderOfTheOtherTasksDoesNotMatter) {
  const auto cubic = OnCurve(Sizes(100, 100, 20), 0, 1e-9, 3);
  const auto own = OnCurve({150, 1150}, 0, 1e-9, 3);
  EXPECT_DOUBLE_EQ(Predict({own, kQuadratic, cubic}, 0, 5000).seconds,
                   Predict({own, cubic, kQuadratic}, 0, 5000).seconds);
}

}  // namespace
}  // namespace tidemark::papers
