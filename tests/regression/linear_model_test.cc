#include "regression/linear_model.h"

#include "tests/test.h"

namespace tidemark::regression::linear_model_test {
namespace {

LinearModel Fit(std::vector<std::string> features, const std::vector<std::vector<double>>& rows,
                const std::vector<double>& labels) {
  auto model = LinearModel::Fit(std::move(features), rows, labels);
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

// The data are y = 2 + 3 k, with an unrelated feature.
TEST(LinearModel, ChoosesTheFeatureWithInfluence) {
  const LinearModel model =
      Fit({"k", "noise"}, {{1, 5}, {2, 3}, {3, 9}, {4, 1}, {5, 4}}, {5, 8, 11, 14, 17});
  ASSERT_EQ(model.choices().size(), 1);
  EXPECT_EQ(model.choices()[0].feature, "k");
  EXPECT_NEAR(model.choices()[0].coefficient, 3, 1e-9);
  EXPECT_NEAR(model.Predict({4.5, 0}).value, 15.5, 1e-9);
}

TEST(LinearModel, ChoosesSeveralFeaturesWithInfluence) {
  std::vector<std::vector<double>> rows;
  std::vector<double> labels;
  for (int i = 0; i < 16; ++i) {
    rows.push_back({double(i & 1), double(i >> 1 & 1), double(i >> 2 & 1), double(i >> 3 & 1)});
    labels.push_back(1 - 0.2 * rows.back()[0] - 0.1 * rows.back()[1] - 0.05 * rows.back()[3]);
  }
  const LinearModel model = Fit({"a", "b", "c", "d"}, rows, labels);
  EXPECT_EQ(model.choices().size(), 3);
  EXPECT_NEAR(model.Predict({1, 1, 1, 1}).value, 0.65, 1e-9);
}

TEST(LinearModel, NoiseAloneGivesTheMean) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal(10, 1);
  std::vector<std::vector<double>> rows;
  std::vector<double> labels;
  for (int i = 0; i < 30; ++i) {
    rows.push_back({double(i)});
    labels.push_back(normal(random));
  }
  const LinearModel model = Fit({"k"}, rows, labels);
  EXPECT_THAT(model.choices(), IsEmpty());
  EXPECT_NEAR(model.Predict({1000}).value, 10, 0.5);
}

TEST(LinearModel, ValuesBeyondTheDataAreNamedAndWidenTheInterval) {
  const LinearModel model = Fit({"k"}, {{10}, {20}, {30}, {40}}, {1.1, 1.9, 3.05, 3.95});
  const Forecast within = model.Predict({25});
  const Forecast beyond = model.Predict({80});
  EXPECT_THAT(within.beyond, IsEmpty());
  EXPECT_THAT(beyond.beyond, ElementsAre("k"));
  EXPECT_GT(beyond.deviation, 3 * within.deviation);
}

TEST(LinearModel, AConstantFeatureIsNamedAndWidensTheInterval) {
  const LinearModel model = Fit({"k", "mode"}, {{1, 7}, {2, 7}, {3, 7}, {4, 7}}, {1, 2, 3, 4});
  EXPECT_THAT(model.Predict({2, 7}).never_varied, IsEmpty());
  const Forecast other = model.Predict({2, 8});
  EXPECT_THAT(other.never_varied, ElementsAre("mode"));
  EXPECT_NEAR(other.value, 2, 1e-9);
  EXPECT_GE(other.deviation, 1);
}

TEST(LinearModel, CorrelatedFeaturesAreNamedAsIndistinguishable) {
  const LinearModel model =
      Fit({"k", "twice"}, {{1, 2}, {2, 4}, {3, 6}, {5, 10}}, {10, 20, 30, 50});
  ASSERT_EQ(model.choices().size(), 1);
  EXPECT_THAT(model.choices()[0].indistinguishable, ElementsAre("twice"));
}

TEST(LinearModel, OneRunGivesItsLabelWithAWideInterval) {
  const LinearModel one = Fit({"k"}, {{10}}, {100});
  const LinearModel many = Fit({"k"}, {{10}, {10}, {10}, {10}}, {100, 100, 100, 100});
  EXPECT_DOUBLE_EQ(one.Predict({10}).value, 100);
  EXPECT_GT(one.Predict({10}).deviation, 5 * many.Predict({10}).deviation);
  EXPECT_THAT(one.Predict({50}).never_varied, ElementsAre("k"));
}

// A line passes through any two points, so its fit is not evidence.
TEST(LinearModel, TwoRunsGiveNoLine) {
  EXPECT_THAT(Fit({"k"}, {{10}, {50}}, {1, 5}).choices(), IsEmpty());
}

TEST(LinearModel, ASingleDeviatingRunIsNotEvidence) {
  const LinearModel model = Fit({"k"}, {{1}, {1}, {1}, {9}}, {5, 5, 5, 50});
  EXPECT_THAT(model.choices(), IsEmpty());
}

TEST(LinearModel, InvalidInputIsAnError) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(LinearModel::Fit({"k"}, {}, {}).ok());
  EXPECT_FALSE(LinearModel::Fit({"k"}, {{1}}, {1, 2}).ok());
  EXPECT_FALSE(LinearModel::Fit({"k"}, {{1, 2}}, {1}).ok());
  EXPECT_FALSE(LinearModel::Fit({"k"}, {{nan}}, {1}).ok());
  EXPECT_FALSE(LinearModel::Fit({"k"}, {{1}}, {nan}).ok());
}

}  // namespace
}  // namespace tidemark::regression::linear_model_test
