// Fits a family of cost curves, and computes the probability of each curve.
//
//   P_c:  g(x) = a + b x^c             c = 0.3, 0.4, ..., 5.0
//   L_c:  g(x) = a + l y + b x^c       with the same exponents
//   a, l, b >= 0
//
// x is the size of a key group divided by the largest known size. y is its number of bytes divided
// by the largest known number. Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace tidemark::regression {

// Upper bound of squared relative errors and of their variances. An estimate of three times the
// actual value reaches this bound. In logarithms, a factor of e^2 reaches it. Ablation: -0.07,
// +0.12 (join phase-ab).
inline constexpr double kSquaredErrorMax = 4;
// Lower bound of the relative error of a bin, since curves are not exact.
// Ablation: +0.18 (two-path bend), -1.08 (join lost-10).
inline constexpr double kBinErrorMin = 0.03;
inline constexpr double kBinVarianceMin = kBinErrorMin * kBinErrorMin;

// --- weighted least squares in three coefficients, none of which may be negative ---
//
// The sum of squares
//
//   chi^2(s) = sum_i w_i (t_i - s_0 u_i0 - s_1 u_i1 - s_2 u_i2)^2
//            = t't - 2 s'r + s'Gs,    G = U'WU,  r = U'Wt,  t't = sum_i w_i t_i^2
//
// depends on G, r and t't only. At the constrained minimum, some coefficients are zero and the
// others solve their own normal equations, G_SS s_S = r_S. Three coefficients have seven such
// subsets S, so each can be solved by elimination. Bit i of a subset is set if coefficient i may
// differ from zero. O(1) per subset.
struct NormalEquations {
  using Coefficients = std::array<double, 3>;

  std::array<Coefficients, 3> gram{};  // upper triangle of G
  Coefficients right{};                // r
  double target = 0;                   // t't

  // Returns chi^2(s), which is at least 0 despite rounding.
  double ChiSquared(const Coefficients& s) const;

  // Computes the least-squares coefficients of one subset. Returns false if the equations are
  // singular, or if a coefficient is negative or not finite.
  bool Solve(unsigned subset, Coefficients& s) const;

 private:
  bool SolveOne(int i, Coefficients& s) const;
  bool SolveTwo(int i, int j, Coefficients& s) const;  // i < j
  bool SolveThree(Coefficients& s) const;
};

// --- fits ---
//
// A fit minimises
//
//   chi^2 = sum_i w_i ((g(x_i, y_i) - m_i) / u_i)^2
//
// over bins i of key groups of similar size with mean amount m_i. Errors are relative, since the
// unit u_i is m_i, except for negligible amounts. The problem is linear for each exponent c.
// Therefore the grid over c is exact and needs no starting point.

struct CostCurve {
  double a = 0;
  double l = 0;
  double b = 0;  // coefficient of x^c
  double c = 1;
  double probability = 0;
};

// Returns g(x, y).
double Evaluate(const CostCurve& curve, double x, double y);

// Each vector has an entry for each bin, in ascending order of size.
struct CurveData {
  std::vector<double> x;       // size / largest size, so the last is 1
  std::vector<double> y;       // bytes / largest bytes
  std::vector<double> log_x;   // natural logarithms
  std::vector<double> amount;  // m: mean of the explained quantity
  std::vector<double> unit;    // u: unit of an error
  std::vector<double> base;    // weight without the bandwidth and robust factors
  std::vector<double> error;   // expected squared relative error of a bin's mean
};

struct FittedCurve {
  CostCurve curve;
  double chi_squared = std::numeric_limits<double>::infinity();
  bool is_linear = false;  // true for a curve of the form L_c
};

// The largest exponent, both for sizes and for the progress within a key group. Ablation: +10.83,
// -0.03 (n^4-1.4).
inline constexpr double kExponentMax = 5;

// The exponents are `min`, `min + step`, ... up to kExponentMax.
struct ExponentGrid {
  double min = 0.3;
  double step = 0.1;
};

// Returns the best curve of each form and exponent, fitted to the first `weight.size()` bins.
// O(exponents x bins).
std::vector<FittedCurve> FitCurves(const CurveData& data, const std::vector<double>& weight,
                                   ExponentGrid grid = {});

// Returns the fit with the least chi^2. REQUIRES: `fits` is not empty.
const FittedCurve& BestOf(const std::vector<FittedCurve>& fits);

// Returns `weight`, reduced for bins that are far from `best`, as for Cauchy-distributed errors.
std::vector<double> RobustWeights(const CurveData& data, std::vector<double> weight,
                                  const CostCurve& best);

// --- probabilities ---
//
// With n bins, a fit has n - 3 degrees of freedom. If chi^2_min / (n - 3) exceeds 1, the bins
// differ from every curve by more than their errors, and chi^2 is divided by it:
//
//   ln p = -(chi^2 - chi^2_min) / (2 max(1, chi^2_min / (n - 3))) + ln prior
//
// The prior of an exponent c is Student's t with three degrees of freedom about 1.3. Few costs have
// a high power, but a few key groups must suffice to show one. Integer exponents are likelier. At a
// distance d from the nearest integer, the factor is exp(-3 d). The third term of L_c divides the
// probability by n + 2.

// Curves of lower probability are dropped.
// Ablation: -0.23, +0.17 (join lost-10).
inline constexpr double kProbabilityMin = 0.002;

// Adds the curves of one fit of `bins` bins. Their probabilities sum to `share`. O(curves).
void AddPosterior(const std::vector<FittedCurve>& fits, std::size_t bins, double share,
                  std::vector<CostCurve>& all);

// Keeps the most probable curves, which together have almost all of the probability, in descending
// order. Normalises their sum to 1. O(curves log curves).
void KeepLikely(std::vector<CostCurve>& curves);

// --- bandwidths ---
//
// No curve fits everywhere, and its values beyond the data matter most. Therefore curves are fitted
// with several bandwidths h. Below the largest size X, a weight falls by a factor of e whenever the
// size falls by a factor of e^h:
//
//   w(x) = w_base (x / X)^(1 / h)
//
// Each bandwidth is judged by its held-out error. The sizes of the last 1, 2.2 and 4.5 octaves are
// predicted from the other bins. Its share of the posterior is
//
//   share_h ~ prior_h (least error / error_h)^3
//
// The error is the mean square of ln(predicted / actual) over all curves, minus the noise.

// The bandwidths h, in powers of e.
inline constexpr std::array<double, 4> kBandwidths = {0.7, 1.5, 3, 8};

// Mean squares of ln(predicted / actual) at held-out sizes.
struct HeldOutError {
  double mean = 0;     // over all held-out sizes
  double nearest = 0;  // over the sizes in the last octave
};

struct BandwidthChoice {
  std::array<double, kBandwidths.size()> shares{};  // sum to 1
  // least error of all bandwidths; nullopt if there are too few bins
  std::optional<HeldOutError> error;
};

// Returns the shares of the bandwidths. Takes as long as 12 fits with half the exponents.
BandwidthChoice ChooseBandwidths(const CurveData& data);

// Returns the weights of the bins up to index `last`, which has the largest size to be fitted.
std::vector<double> BandwidthWeights(const CurveData& data, double bandwidth, std::size_t last);

}  // namespace tidemark::regression
