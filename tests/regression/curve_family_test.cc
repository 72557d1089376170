#include "regression/curve_family.h"

#include "tests/test.h"

namespace tidemark::regression::curve_family_test {
namespace {

FittedCurve Curve(double exponent, double chi_squared, bool is_linear = false) {
  return {.curve = {.c = exponent}, .chi_squared = chi_squared, .is_linear = is_linear};
}

// There are 10 bins, and chi^2 is less than their 7 degrees of freedom. Therefore ln p = -chi^2 / 2
// - 2 ln(1 + ((c - 1.3) / 0.7)^2 / 3). For c = 1, it is -2 ln(1 + 0.061224) = -0.118846. For c = 2,
// it is -1 - 2 ln(1 + 1 / 3) = -1.575364.
TEST(CurvePosterior, WeighsFitAndExponent) {
  std::vector<CostCurve> curves;
  AddPosterior({Curve(1, 3), Curve(2, 5)}, 10, 1, curves);
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_NEAR(curves[0].probability / curves[1].probability, std::exp(1.575364 - 0.118846), 1e-4);
  EXPECT_NEAR(curves[0].probability + curves[1].probability, 1, 1e-12);
}

// The minimum of chi^2 is 28, which is four times its degrees of freedom, so differences are
// divided by four.
TEST(CurvePosterior, ScalesChiSquaredByItsMinimum) {
  std::vector<CostCurve> curves;
  AddPosterior({Curve(1, 28), Curve(1, 36)}, 10, 1, curves);
  EXPECT_NEAR(curves[0].probability / curves[1].probability, std::exp(8.0 / 2 / 4), 1e-9);
}

TEST(CurvePosterior, PrefersIntegerExponentsAndFewerTerms) {
  std::vector<CostCurve> curves;
  AddPosterior({Curve(2, 1), Curve(2, 1, true)}, 10, 1, curves);
  EXPECT_NEAR(curves[0].probability / curves[1].probability, 12, 1e-9);
  curves.clear();
  // 1.6 and 1 are equally far from 1.3, and 1.6 is 0.4 from the nearest whole number.
  AddPosterior({Curve(1, 1), Curve(1.6, 1)}, 10, 1, curves);
  EXPECT_NEAR(curves[0].probability / curves[1].probability, std::exp(3 * 0.4), 1e-9);
}

TEST(CurvePosterior, KeepsTheLikelyCurves) {
  std::vector<CostCurve> curves;
  AddPosterior({Curve(1, 0), Curve(1, 2), Curve(1, 100)}, 10, 0.5, curves);
  KeepLikely(curves);
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_GT(curves[0].probability, curves[1].probability);
  EXPECT_NEAR(curves[0].probability + curves[1].probability, 1, 1e-12);
}

// Returns equations for rows u = (1, x) with weight 1 at x = 0, 1, 2 and targets 1, 3, 5. The third
// coefficient is unused. G = {{3, 3}, {., 5}}, r = (9, 13), t't = 35.
NormalEquations LineThroughThree() {
  NormalEquations equations;
  equations.gram = {{{3, 3, 0}, {0, 5, 0}, {0, 0, 0}}};
  equations.right = {9, 13, 0};
  equations.target = 35;
  return equations;
}

TEST(NormalEquations, FindsTheLineThroughAllPoints) {
  NormalEquations::Coefficients s;
  ASSERT_TRUE(LineThroughThree().Solve(0b011, s));
  EXPECT_NEAR(s[0], 1, 1e-12);
  EXPECT_NEAR(s[1], 2, 1e-12);
  EXPECT_EQ(s[2], 0);
  EXPECT_NEAR(LineThroughThree().ChiSquared(s), 0, 1e-12);
}

// The constant alone gives s = 9 / 3 = 3, with errors of -2, 0 and 2.
TEST(NormalEquations, FindsTheMeanWithoutASlope) {
  NormalEquations::Coefficients s;
  ASSERT_TRUE(LineThroughThree().Solve(0b001, s));
  EXPECT_DOUBLE_EQ(s[0], 3);
  EXPECT_DOUBLE_EQ(LineThroughThree().ChiSquared(s), 8);
}

// The targets are 5, 3, 1, so r = (9, 5) and the slope would be -2.
TEST(NormalEquations, RejectsANegativeCoefficient) {
  NormalEquations equations = LineThroughThree();
  equations.right = {9, 5, 0};
  NormalEquations::Coefficients s;
  EXPECT_FALSE(equations.Solve(0b011, s));
  EXPECT_TRUE(equations.Solve(0b001, s));
}

// The rows (1, x, x^2) at x = 0, 1, 2, 3 have targets 1 + 2 x + 3 x^2 = 1, 6, 17, 34. The sums of
// powers are 4, 6, 14, 36 and 98. Furthermore, r = (58, 142, 380) and t't = 1 + 36 + 289 + 1156.
TEST(NormalEquations, FindsThreeCoefficients) {
  NormalEquations equations;
  equations.gram = {{{4, 6, 14}, {0, 14, 36}, {0, 0, 98}}};
  equations.right = {58, 142, 380};
  equations.target = 1482;
  NormalEquations::Coefficients s;
  ASSERT_TRUE(equations.Solve(0b111, s));
  EXPECT_NEAR(s[0], 1, 1e-9);
  EXPECT_NEAR(s[1], 2, 1e-9);
  EXPECT_NEAR(s[2], 3, 1e-9);
  EXPECT_NEAR(equations.ChiSquared(s), 0, 1e-9);
}

TEST(NormalEquations, RejectsSingularAndNonFiniteEquations) {
  NormalEquations twice = LineThroughThree();
  twice.gram = {{{3, 3, 0}, {0, 3, 0}, {0, 0, 0}}};
  NormalEquations::Coefficients s;
  EXPECT_FALSE(twice.Solve(0b011, s)) << "both columns are the same";
  EXPECT_FALSE(twice.Solve(0b100, s)) << "an empty column";
  EXPECT_FALSE(twice.Solve(0b111, s));
  twice.right[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(twice.Solve(0b001, s));
}

}  // namespace
}  // namespace tidemark::regression::curve_family_test
