#include "regression/nonnegative_least_squares.h"

#include <gtest/gtest.h>

#include <limits>

namespace tidemark::regression {
namespace {

// Rows u = (1, x) of weight 1 at x = 0, 1, 2 with targets 1, 3, 5; the third coefficient is unused.
// G = {{3, 3}, {., 5}}, r = (9, 13), t't = 35.
NormalEquations LineThroughThree() {
  NormalEquations equations;
  equations.gram = {{{3, 3, 0}, {0, 5, 0}, {0, 0, 0}}};
  equations.right = {9, 13, 0};
  equations.target = 35;
  return equations;
}

TEST(NormalEquations, FindsTheLineThatRunsThroughAllPoints) {
  NormalEquations::Coefficients s;
  ASSERT_TRUE(LineThroughThree().Solve(0b011, s));
  EXPECT_NEAR(s[0], 1, 1e-12);
  EXPECT_NEAR(s[1], 2, 1e-12);
  EXPECT_EQ(s[2], 0);
  EXPECT_NEAR(LineThroughThree().ChiSquared(s), 0, 1e-12);
}

// The mean alone: s = 9 / 3 = 3, errors -2, 0, 2.
TEST(NormalEquations, FindsTheMeanWithoutASlope) {
  NormalEquations::Coefficients s;
  ASSERT_TRUE(LineThroughThree().Solve(0b001, s));
  EXPECT_DOUBLE_EQ(s[0], 3);
  EXPECT_DOUBLE_EQ(LineThroughThree().ChiSquared(s), 8);
}

// Targets 5, 3, 1: r = (9, 5); the slope would be -2.
TEST(NormalEquations, RefusesANegativeCoefficient) {
  NormalEquations equations = LineThroughThree();
  equations.right = {9, 5, 0};
  NormalEquations::Coefficients s;
  EXPECT_FALSE(equations.Solve(0b011, s));
  EXPECT_TRUE(equations.Solve(0b001, s));
}

// Rows (1, x, x^2) at x = 0, 1, 2, 3 of 1 + 2 x + 3 x^2 = 1, 6, 17, 34:
// sums of powers 4, 6, 14, 36, 98; r = (58, 142, 380); t't = 1 + 36 + 289 + 1156.
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

TEST(NormalEquations, RefusesWhatIsSingularOrNoNumber) {
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
}  // namespace tidemark::regression
