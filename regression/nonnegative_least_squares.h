// Weighted least squares in three coefficients, none of which may be negative.
//
// Of a sum of squares
//
//   chi^2(s) = sum_i w_i (t_i - s_0 u_i0 - s_1 u_i1 - s_2 u_i2)^2
//            = t't - 2 s'r + s'Gs,    G = U'WU,  r = U'Wt,  t't = sum_i w_i t_i^2
//
// only G, r and t't matter. The constrained minimum lies where some of the coefficients are zero
// and the others solve their own normal equations, G_SS s_S = r_S; with three coefficients there
// are seven such subsets S, few enough to solve each by elimination. A subset is written as bits:
// bit i says that coefficient i may differ from zero.
//
// Pure values. Cost: O(1) for each subset.
#pragma once

#include <array>

namespace tidemark::regression {

struct NormalEquations {
  using Coefficients = std::array<double, 3>;

  std::array<Coefficients, 3> gram{};  // G: the upper triangle
  Coefficients right{};                // r
  double target = 0;                   // t't

  // chi^2(s), and no less than 0 where rounding would have it so.
  double ChiSquared(const Coefficients& s) const;

  // The least squares in one subset; false where that is singular or has a coefficient that is
  // negative or no number.
  bool Solve(unsigned subset, Coefficients& s) const;

 private:
  bool SolveOne(int i, Coefficients& s) const;
  bool SolveTwo(int i, int j, Coefficients& s) const;  // i < j
  bool SolveThree(Coefficients& s) const;
};

}  // namespace tidemark::regression
