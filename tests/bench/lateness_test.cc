#include "bench/accuracy/lateness.h"

#include <span>

#include "tests/test.h"

namespace tidemark::bench::lateness_test {
namespace {

double WeightOf(const LateBins& late) {
  double weight = 0;
  for (const LateBin& bin : late.bins) weight += bin.weight;
  return weight;
}

TEST(Lateness, AnUpdateWithoutAnIntervalHasNoProbability) {
  const std::vector<Prediction> predictions = {{.at = 1, .end = 10}, {.at = 2}};
  EXPECT_EQ(WeightOf(MeasureLateness(predictions, 0, 10).near_end), 0);
  EXPECT_EQ(WeightOf(MeasureLateness(predictions, 0, 10).near_forecast), 0);
  EXPECT_EQ(LateBins{}.largest_error(), 0);
  EXPECT_EQ(LateBins{}.mean_error(), 0);
}

// The deadline at 80 % of the run's duration precedes the last fifth of the updates, so these do
// not count for it.
TEST(Lateness, EachDeadlineCountsOnceForAnyNumberOfUpdates) {
  std::vector<Prediction> predictions;
  for (int at = 1; at < 10; ++at) {
    predictions.push_back({.at = static_cast<double>(at), .end = 11, .lower = 9, .upper = 13});
  }
  EXPECT_NEAR(WeightOf(MeasureLateness(predictions, 0, 10).near_end), kDeadlines.size(), 1e-9);
  EXPECT_NEAR(WeightOf(MeasureLateness(predictions, 0, 10).near_forecast), kDeadlines.size(), 1e-9);
  const auto last = std::span(predictions).subspan(7);
  EXPECT_NEAR(WeightOf(MeasureLateness(last, 0, 10).near_end), kDeadlines.size() - 1.0, 1e-9);
}

Lateness LatenessOf(double deviation, double half_width) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> log_error(0, deviation);
  Lateness sum;
  for (int run = 0; run < 1000; ++run) {
    const double median = 100 * std::exp(log_error(random));
    const std::vector<Prediction> predictions = {{.at = 1,
                                                  .end = median,
                                                  .lower = median * std::exp(-half_width),
                                                  .upper = median * std::exp(half_width)}};
    sum.Add(MeasureLateness(predictions, 0, 100));
  }
  return sum;
}

// The half-width of a 90 % interval is 1.645 deviations.
TEST(Lateness, ACalibratedForecastHasMatchingShares) {
  EXPECT_LT(LatenessOf(0.1, 0.1645).near_forecast.largest_error(), 0.05);
  EXPECT_LT(LatenessOf(0.5, 0.8225).near_forecast.largest_error(), 0.05);
}

TEST(Lateness, AnOverconfidentForecastHasOtherShares) {
  EXPECT_GT(LatenessOf(0.1, 0.02).near_forecast.largest_error(), 0.2);
}

// Half of the deadlines near the end are missed, whatever a forecast states.
TEST(Lateness, DeadlinesNearTheEndContainTheOutcome) {
  EXPECT_GT(LatenessOf(0.5, 0.8225).near_end.largest_error(), 0.2);
}

}  // namespace
}  // namespace tidemark::bench::lateness_test
