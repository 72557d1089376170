#include "master/forecast/durations/fixed_draws.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tidemark::cost {
namespace {

double Correlation(const std::vector<double>& x, const std::vector<double>& y) {
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += x[i] * y[i];
    xx += x[i] * x[i];
    yy += y[i] * y[i];
  }
  return xy / std::sqrt(xx * yy);
}

TEST(FixedDraws, EveryStreamHasOneNumberFromEachPart) {
  const FixedDraws& draws = FixedDraws::For(3);
  for (const std::uint64_t stream : {0, 1, 7, 12345}) {
    std::vector<double> values = draws.Uniforms(Drawn::kTask, stream);
    std::sort(values.begin(), values.end());
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(values[i], (static_cast<double>(i) + 0.5) / static_cast<double>(draws.count()),
                  1e-12);
    }
  }
}

TEST(FixedDraws, AreTheSameEveryTime) {
  EXPECT_EQ(FixedDraws::For(3).Normals(Drawn::kTask, 5),
            FixedDraws::For(3).Normals(Drawn::kTask, 5));
}

// Uncorrelated ones have a standard error of 1 / sqrt(draws).
TEST(FixedDraws, TasksHaveOrdersOfTheirOwn) {
  const FixedDraws& draws = FixedDraws::For(3);
  double squares = 0;
  int pairs = 0;
  for (std::uint64_t a = 0; a < 30; ++a) {
    for (std::uint64_t b = a + 1; b < 30; ++b) {
      const double r = Correlation(draws.Normals(Drawn::kTask, a), draws.Normals(Drawn::kTask, b));
      squares += r * r;
      ++pairs;
    }
  }
  EXPECT_LT(std::sqrt(squares / pairs), 1.3 / std::sqrt(static_cast<double>(draws.count())));
}

TEST(FixedDraws, KindsOfThingsHaveOrdersOfTheirOwn) {
  const FixedDraws& draws = FixedDraws::For(3);
  EXPECT_NE(draws.Normals(Drawn::kTask, 3), draws.Normals(Drawn::kStage, 3));
}

TEST(FixedDraws, QuantilesLieBetweenTheDraws) {
  std::vector<double> values = {4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(QuantileOf(values, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(QuantileOf(values, 0), 1);
  EXPECT_DOUBLE_EQ(QuantileOf(values, 1), 4);
}

TEST(FixedDraws, ManyTasksGetFewer) {
  EXPECT_LT(FixedDraws::For(10'000).count(), FixedDraws::For(30).count());
}

}  // namespace
}  // namespace tidemark::cost
