#include "regression/curve_posterior.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tidemark::regression {
namespace {

FittedCurve Curve(double exponent, double chi_squared, bool is_linear = false) {
  return {.curve = {.c = exponent}, .chi_squared = chi_squared, .is_linear = is_linear};
}

// 10 bins, chi^2 below their 7 degrees of freedom. ln p = -chi^2 / 2 - 2 ln(1 + ((c - 1.3) / 0.7)^2
// / 3): c = 1: -2 ln(1 + 0.061224) = -0.118846; c = 2: -1 - 2 ln(1 + 1 / 3) = -1.575364.
TEST(CurvePosterior, WeighsFitAndExponent) {
  std::vector<CostCurve> curves;
  AddPosterior({Curve(1, 3), Curve(2, 5)}, 10, 1, curves);
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_NEAR(curves[0].probability / curves[1].probability, std::exp(1.575364 - 0.118846), 1e-4);
  EXPECT_NEAR(curves[0].probability + curves[1].probability, 1, 1e-12);
}

// The least chi^2, 28, is four times its degrees of freedom: differences count a quarter.
TEST(CurvePosterior, BelievesChiSquaredNoMoreThanItsLeastAllows) {
  std::vector<CostCurve> curves;
  AddPosterior({Curve(1, 28), Curve(1, 36)}, 10, 1, curves);
  EXPECT_NEAR(curves[0].probability / curves[1].probability, std::exp(8.0 / 2 / 4), 1e-9);
}

TEST(CurvePosterior, PrefersWholeExponentsAndFewerTerms) {
  std::vector<CostCurve> curves;
  AddPosterior({Curve(2, 1), Curve(2, 1, true)}, 10, 1, curves);
  EXPECT_NEAR(curves[0].probability / curves[1].probability, 12, 1e-9);
  curves.clear();
  // 1.6 and 1 are as far from 1.3 as each other; 1.6 is 0.4 from a whole number.
  AddPosterior({Curve(1, 1), Curve(1.6, 1)}, 10, 1, curves);
  EXPECT_NEAR(curves[0].probability / curves[1].probability, std::exp(3 * 0.4), 1e-9);
}

TEST(CurvePosterior, KeepsTheLikelyOnes) {
  std::vector<CostCurve> curves;
  AddPosterior({Curve(1, 0), Curve(1, 2), Curve(1, 100)}, 10, 0.5, curves);
  KeepLikely(curves);
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_GT(curves[0].probability, curves[1].probability);
  EXPECT_NEAR(curves[0].probability + curves[1].probability, 1, 1e-12);
}

}  // namespace
}  // namespace tidemark::regression
