#include "bench/accuracy/lateness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace tidemark::bench {
namespace {

double WeightOf(const Lateness& lateness) {
  double weight = 0;
  for (const LateBin& bin : lateness.bins) weight += bin.weight;
  return weight;
}

TEST(Lateness, AnUpdateWithoutAnIntervalHasNoProbability) {
  const std::vector<Prediction> predictions = {{.at = 1, .end = 10}, {.at = 2}};
  EXPECT_EQ(WeightOf(MeasureLateness(predictions, 0, 10)), 0);
  EXPECT_EQ(Lateness{}.largest_error(), 0);
  EXPECT_EQ(Lateness{}.mean_error(), 0);
}

TEST(Lateness, EachDeadlineCountsOnceForAnyNumberOfUpdates) {
  std::vector<Prediction> predictions;
  for (int at = 1; at < 10; ++at) {
    predictions.push_back({.at = static_cast<double>(at), .end = 11, .lower = 9, .upper = 13});
  }
  EXPECT_NEAR(WeightOf(MeasureLateness(predictions, 0, 10)), kDeadlines.size(), 1e-9);
}

// Draws ends from the predicted distribution by its inverse. The median is 100, and the interval is
// 80 to 130.
TEST(Lateness, ACalibratedForecastHasMatchingShares) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  Lateness sum;
  for (int run = 0; run < 4000; ++run) {
    const double late = uniform(random);
    double end = 0;
    if (late > 0.55) {
      end = 100 - 20 * std::pow(-std::log((1 - late) / 0.45) / 3.8, 1 / 0.7);
    } else {
      end = 100 * std::pow(1.3, std::pow(-std::log(late / 0.55) / 2, 1 / 0.7));
    }
    const std::vector<Prediction> predictions = {{.at = 0, .end = 100, .lower = 80, .upper = 130}};
    sum.Add(MeasureLateness(predictions, -1, end));
  }
  EXPECT_LT(sum.largest_error(), 0.05);
  EXPECT_LT(sum.mean_error(), 0.02);
}

TEST(Lateness, AnOverconfidentForecastHasOtherShares) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> ends(100, 10);
  Lateness sum;
  for (int run = 0; run < 1000; ++run) {
    const std::vector<Prediction> predictions = {{.at = 1, .end = 100, .lower = 98, .upper = 102}};
    sum.Add(MeasureLateness(predictions, 0, ends(random)));
  }
  EXPECT_GT(sum.largest_error(), 0.1);
}

}  // namespace
}  // namespace tidemark::bench
