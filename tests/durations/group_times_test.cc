#include "master/forecast/durations/group_times.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "master/forecast/durations/finished_groups.h"

namespace tidemark::durations::group_times_test {
namespace {

// Returns key groups of three sizes, with the given cost per byte.
std::vector<regression::CostBin> Bins(double count, double per_byte) {
  std::vector<regression::CostBin> bins;
  for (const double size : {100.0, 1'000.0, 10'000.0}) {
    bins.push_back({.size = size, .count = count, .amount = per_byte * size});
  }
  return bins;
}

TEST(LazyFit, IsEmptyWithoutEvidence) {
  LazyFit fit(0.1);
  EXPECT_TRUE(fit.empty());
  fit.Update({});
  EXPECT_TRUE(fit.empty());
}

TEST(LazyFit, KeepsItsFitWithSimilarEvidence) {
  LazyFit fit(0.1);
  fit.Update(Bins(100, 1));
  const double before = fit.model().Predict(1'000);
  fit.Update(Bins(100, 1.05));
  EXPECT_EQ(fit.model().Predict(1'000), before);
}

TEST(LazyFit, FitsAgainWithMoreOrCostlierKeyGroups) {
  LazyFit fit(0.1);
  fit.Update(Bins(100, 1));
  fit.Update(Bins(150, 2));
  EXPECT_NEAR(fit.model().Predict(1'000), 2'000, 100);
  fit.Update(Bins(150, 3));
  EXPECT_NEAR(fit.model().Predict(1'000), 3'000, 150);
}

TEST(LazyFit, FitsAgainWithANewSize) {
  LazyFit fit(10);
  fit.Update(Bins(100, 1));
  std::vector<regression::CostBin> bins = Bins(100, 1);
  bins.push_back({.size = 100'000, .count = 1, .amount = 400'000});
  fit.Update(bins);
  EXPECT_EQ(fit.model().size_max(), 100'000);
}

TEST(LazyFit, FitsAgainAfterInvalidate) {
  LazyFit fit(10);
  fit.Update(Bins(100, 1));
  fit.Invalidate();
  fit.Update(Bins(100, 2));
  EXPECT_NEAR(fit.model().Predict(1'000), 2'000, 100);
}

// By hand: l = ln 3 = 1.0986, so (0.01 + 1.2069 - 0.02) / 2 = 0.5985. With l = 0.05, the deviation
// is within the sampling error.
TEST(VarianceOfNode, GrowsWithTheDeviationOfOneNode) {
  EXPECT_NEAR(VarianceOfNode(0.01, std::log(3), 0.02), 0.5985, 1e-4);
  EXPECT_DOUBLE_EQ(VarianceOfNode(0.01, 0.05, 0.02), 0.01);
}

}  // namespace
}  // namespace tidemark::durations::group_times_test
