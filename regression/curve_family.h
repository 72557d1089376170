// The family of cost curves and its fits by least squares.
//
//   P_c:  g(x) = a + b x^c             c = 0.3, 0.4, ..., 5.0
//   L_c:  g(x) = a + l y + b x^c       likewise
//   a, l, b >= 0
//
// x is the size of a key group over the largest seen, y its bytes likewise. A fit minimises
//
//   chi^2 = sum_i w_i ((g(x_i, y_i) - m_i) / u_i)^2
//
// over bins i of key groups of like size with mean amount m_i: relative errors, as the unit u_i is
// m_i and next to nothing. For each exponent c the rest is linear
// (nonnegative_least_squares.h), so the grid over c is exact and needs no starting point.
//
// Pure functions. Cost of FitCurves: O(exponents x bins).
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace tidemark::regression {

struct CostCurve {
  double a = 0;
  double l = 0;
  double b = 0;  // of x^c
  double c = 1;
  double probability = 0;
};

// g(x, y).
double Evaluate(const CostCurve& curve, double x, double y);

// A vector entry for each bin, by increasing size.
struct CurveData {
  std::vector<double> x;       // size over the largest, so the last is 1
  std::vector<double> y;       // bytes over the largest
  std::vector<double> log_x;   // natural logarithms
  std::vector<double> amount;  // m: mean of what is explained
  std::vector<double> unit;    // u: what an error is measured in
  std::vector<double> base;    // weight before bandwidth and robustness
  std::vector<double> error;   // squared relative error expected of a bin's mean
};

struct FittedCurve {
  CostCurve curve;
  double chi_squared = std::numeric_limits<double>::infinity();
  bool is_linear = false;  // of L_c
};

// No cost grows faster than this power, of sizes or of what of a key group is done.
// Ablation: +10.83, -0.03 (n^4-1.4).
inline constexpr double kExponentMax = 5;

// Which exponents are tried: `min`, `min + step`, ... up to kExponentMax.
struct ExponentGrid {
  double min = 0.3;
  double step = 0.1;
};

// The best curve of each form and exponent, by the bins that have a weight (the first
// `weight.size()`).
std::vector<FittedCurve> FitCurves(const CurveData& data, const std::vector<double>& weight,
                                   ExponentGrid grid = {});

// That of the least chi^2; `fits` must not be empty.
const FittedCurve& BestOf(const std::vector<FittedCurve>& fits);

// `weight`, with less for bins that `best` does not explain, as if errors were Cauchy's.
std::vector<double> RobustWeights(const CurveData& data, std::vector<double> weight,
                                  const CostCurve& best);

}  // namespace tidemark::regression
