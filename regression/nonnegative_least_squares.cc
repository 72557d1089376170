#include "regression/nonnegative_least_squares.h"

#include <algorithm>
#include <cmath>

namespace tidemark::regression {
namespace {

// A pivot that is this part of its diagonal element before elimination is rounding: the equations
// are singular.
constexpr double kPivotTolerance = 1e-12;

bool IsCoefficient(double value) { return value >= 0 && std::isfinite(value); }

}  // namespace

double NormalEquations::ChiSquared(const Coefficients& s) const {
  double chi = target;
  for (int i = 0; i < 3; ++i) {
    chi -= 2 * s[i] * right[i];
    for (int j = 0; j < 3; ++j) chi += s[i] * s[j] * gram[std::min(i, j)][std::max(i, j)];
  }
  return std::max(0.0, chi);
}

bool NormalEquations::Solve(unsigned subset, Coefficients& solution) const {
  std::array<int, 3> index{};
  int n = 0;
  for (int i = 0; i < 3; ++i) {
    if ((subset >> i) & 1U) index[n++] = i;
  }
  if (n == 1) return SolveOne(index[0], solution);
  if (n == 2) return SolveTwo(index[0], index[1], solution);
  return SolveThree(solution);
}

bool NormalEquations::SolveOne(int i, Coefficients& s) const {
  if (!(gram[i][i] > 0)) return false;
  s = {};
  s[i] = right[i] / gram[i][i];
  return IsCoefficient(s[i]);
}

bool NormalEquations::SolveTwo(int i, int j, Coefficients& s) const {
  if (!(gram[i][i] > 0) || !(gram[j][j] > 0)) return false;
  const double factor = gram[i][j] / gram[i][i];
  const double left = gram[j][j] - factor * gram[i][j];
  if (!(left > kPivotTolerance * gram[j][j])) return false;
  s = {};
  s[j] = (right[j] - factor * right[i]) / left;
  s[i] = (right[i] - gram[i][j] * s[j]) / gram[i][i];
  return IsCoefficient(s[j]) && IsCoefficient(s[i]);
}

bool NormalEquations::SolveThree(Coefficients& s) const {
  if (!(gram[0][0] > 0) || !(gram[1][1] > 0) || !(gram[2][2] > 0)) return false;
  const double of_one = gram[0][1] / gram[0][0];
  const double of_two = gram[0][2] / gram[0][0];
  const double g11 = gram[1][1] - of_one * gram[0][1];
  const double g12 = gram[1][2] - of_one * gram[0][2];
  const double r1 = right[1] - of_one * right[0];
  if (!(g11 > kPivotTolerance * gram[1][1])) return false;
  const double factor = (gram[1][2] - of_two * gram[0][1]) / g11;
  const double g22 = gram[2][2] - of_two * gram[0][2] - factor * g12;
  if (!(g22 > kPivotTolerance * gram[2][2])) return false;
  s[2] = (right[2] - of_two * right[0] - factor * r1) / g22;
  s[1] = (r1 - g12 * s[2]) / g11;
  s[0] = (right[0] - gram[0][1] * s[1] - gram[0][2] * s[2]) / gram[0][0];
  return IsCoefficient(s[2]) && IsCoefficient(s[1]) && IsCoefficient(s[0]);
}

}  // namespace tidemark::regression
