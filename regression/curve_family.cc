#include "regression/curve_family.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tidemark::regression {
namespace {

// The equations are singular if a pivot is at most this fraction of the diagonal element before
// elimination.
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

namespace {

// A bin has half its weight if its squared error is kRobustErrors times the sum of its expected
// squared error and kRobustVariance. Ablation: +0.85, -0.70; +0.12, -0.70 (join lost-10).
constexpr double kRobustErrors = 6;
constexpr double kRobustVariance = 0.01;

// The sums and factors of the normal equations that do not depend on the exponent.
class EquationsOfExponents {
 public:
  // Uses the first `weight.size()` bins.
  EquationsOfExponents(const CurveData& data, const std::vector<double>& weight) {
    for (std::size_t i = 0; i < weight.size(); ++i) {
      const double one = 1 / data.unit[i];
      const double w = weight[i] * one;
      const double lin = data.y[i] * one;
      const double target = data.amount[i] * one;
      constant_.push_back(w * one);
      linear_.push_back(w * lin);
      target_.push_back(w * target);
      fixed_.gram[0][0] += w * one;
      fixed_.gram[0][1] += w * lin;
      fixed_.gram[1][1] += weight[i] * lin * lin;
      fixed_.right[0] += w * target;
      fixed_.right[1] += weight[i] * lin * target;
      fixed_.target += weight[i] * target * target;
    }
  }

  NormalEquations With(const std::vector<double>& power) const {
    double constant = 0;
    double linear = 0;
    double square = 0;
    double target = 0;
    for (std::size_t i = 0; i < constant_.size(); ++i) {
      const double of_power = constant_[i] * power[i];
      constant += of_power;
      square += of_power * power[i];
      linear += linear_[i] * power[i];
      target += target_[i] * power[i];
    }
    NormalEquations equations = fixed_;
    equations.gram[0][2] = constant;
    equations.gram[1][2] = linear;
    equations.gram[2][2] = square;
    equations.right[2] = target;
    return equations;
  }

 private:
  NormalEquations fixed_;
  std::vector<double> constant_;
  std::vector<double> linear_;
  std::vector<double> target_;
};

// The least-squares solution for one subset of the coefficients. If no solution exists,
// `chi_squared` is infinite.
struct Solution {
  std::array<double, 3> coefficients{};
  double chi_squared = std::numeric_limits<double>::infinity();
};
// Solutions indexed by subset, which is a bit mask of (a, l, b).
using Solutions = std::array<Solution, 8>;

constexpr unsigned kPowerBit = 0b100;

// Solves the subsets with the power term if `with_power` is true, and otherwise the subsets without
// it. The latter have the same solutions for all exponents.
void SolveSubsets(const NormalEquations& equations, bool with_power, Solutions& solutions) {
  for (unsigned subset = 1; subset < solutions.size(); ++subset) {
    if (((subset & kPowerBit) != 0) != with_power) continue;
    Solution solution;
    if (equations.Solve(subset, solution.coefficients)) {
      solution.chi_squared = equations.ChiSquared(solution.coefficients);
    }
    solutions[subset] = solution;
  }
}

FittedCurve FitCurve(const Solutions& solutions, double target, double exponent, bool is_linear) {
  // Subsets with fewer terms come first, since a further term must clearly improve the fit.
  constexpr std::array<unsigned, 3> kOfPower = {0b100, 0b001, 0b101};
  constexpr std::array<unsigned, 7> kOfLinear = {0b100, 0b010, 0b001, 0b101, 0b110, 0b011, 0b111};
  FittedCurve best;
  best.is_linear = is_linear;
  const auto try_subset = [&](unsigned subset) {
    const Solution& solution = solutions[subset];
    if (!(solution.chi_squared < best.chi_squared - 1e-9 * target)) return;
    const std::array<double, 3>& s = solution.coefficients;
    best.chi_squared = solution.chi_squared;
    best.curve = {s[0], s[1], s[2], exponent, 0};
  };
  if (is_linear) {
    for (const unsigned subset : kOfLinear) try_subset(subset);
  } else {
    for (const unsigned subset : kOfPower) try_subset(subset);
  }
  return best;
}

}  // namespace

double Evaluate(const CostCurve& curve, double x, double y) {
  return curve.a + curve.l * y + curve.b * std::pow(x, curve.c);
}

std::vector<FittedCurve> FitCurves(const CurveData& data, const std::vector<double>& weight,
                                   ExponentGrid grid) {
  std::vector<FittedCurve> fits;
  const EquationsOfExponents equations(data, weight);
  std::vector<double> power(weight.size());
  std::vector<double> step(weight.size());
  for (std::size_t i = 0; i < weight.size(); ++i) {
    power[i] = std::exp(grid.min * data.log_x[i]);
    step[i] = std::exp(grid.step * data.log_x[i]);
  }
  const int steps = static_cast<int>(std::lround((kExponentMax - grid.min) / grid.step));
  fits.reserve(2 * static_cast<std::size_t>(steps + 1));
  Solutions solutions;
  SolveSubsets(equations.With(power), false, solutions);
  for (int s = 0; s <= steps; ++s) {
    const double exponent = grid.min + grid.step * s;
    const NormalEquations with_power = equations.With(power);
    SolveSubsets(with_power, true, solutions);
    fits.push_back(FitCurve(solutions, with_power.target, exponent, false));
    fits.push_back(FitCurve(solutions, with_power.target, exponent, true));
    for (std::size_t i = 0; i < power.size(); ++i) power[i] *= step[i];
  }
  return fits;
}

const FittedCurve& BestOf(const std::vector<FittedCurve>& fits) {
  return *std::min_element(
      fits.begin(), fits.end(),
      [](const FittedCurve& a, const FittedCurve& b) { return a.chi_squared < b.chi_squared; });
}

std::vector<double> RobustWeights(const CurveData& data, std::vector<double> weight,
                                  const CostCurve& best) {
  for (std::size_t i = 0; i < weight.size(); ++i) {
    const double off = (Evaluate(best, data.x[i], data.y[i]) - data.amount[i]) / data.unit[i];
    weight[i] /= 1 + off * off / (data.error[i] + kRobustVariance) / kRobustErrors;
  }
  return weight;
}

namespace {

// Ablation: -0.36, +0.35 (join lost-10).
constexpr double kExponentMean = 1.3;
// Ablation: -0.19, +0.43 (n^4-1.4).
constexpr double kExponentDeviation = 0.7;
// Ablation: -0.06, -0.05 (join phase-ab).
constexpr double kExponentDegrees = 3;
// Ablation: -0.56, +0.61 (join lost-10).
constexpr double kFractionalExponentPenalty = 3;
// Ablation: -0.15, +0.15 (n^4-1.4).
constexpr std::size_t kCurvesMax = 24;

double LogPrior(const FittedCurve& fit, std::size_t bins) {
  const double c = fit.curve.c;
  const double away = (c - kExponentMean) / kExponentDeviation;
  double log = -(kExponentDegrees + 1) / 2 * std::log1p(away * away / kExponentDegrees) -
               kFractionalExponentPenalty * std::abs(c - std::round(c));
  if (fit.is_linear) log -= std::log(static_cast<double>(bins) + 2);
  return log;
}

}  // namespace

void AddPosterior(const std::vector<FittedCurve>& fits, std::size_t bins, double share,
                  std::vector<CostCurve>& all) {
  const double least = BestOf(fits).chi_squared;
  const double degrees = bins > 4 ? static_cast<double>(bins) - 3 : 1;
  const double scale = std::max(1.0, least / degrees);
  std::vector<CostCurve> curves;
  double highest = -std::numeric_limits<double>::infinity();
  for (const FittedCurve& fit : fits) {
    if (!std::isfinite(fit.chi_squared)) continue;
    CostCurve curve = fit.curve;
    curve.probability = -(fit.chi_squared - least) / (2 * scale) + LogPrior(fit, bins);
    highest = std::max(highest, curve.probability);
    curves.push_back(curve);
  }
  double sum = 0;
  for (CostCurve& curve : curves) sum += curve.probability = std::exp(curve.probability - highest);
  for (CostCurve& curve : curves) {
    curve.probability *= share / sum;
    all.push_back(curve);
  }
}

void KeepLikely(std::vector<CostCurve>& curves) {
  std::sort(curves.begin(), curves.end(),
            [](const CostCurve& a, const CostCurve& b) { return a.probability > b.probability; });
  std::size_t kept = 0;
  double kept_sum = 0;
  while (kept < std::min(curves.size(), kCurvesMax) &&
         curves[kept].probability >= kProbabilityMin) {
    kept_sum += curves[kept++].probability;
  }
  curves.resize(kept);
  for (CostCurve& curve : curves) curve.probability /= kept_sum;
}

namespace {

// Ranges of held-out sizes, in octaves below the largest size.
constexpr std::array<double, 3> kHeldOut = {1, 2.2, 4.5};
// The shares of bandwidths depend on this power of the ratio of errors. Ablation: +0.85, +0.57
// (join lost-10).
constexpr double kEvidencePower = 3;
// Prior share of each bandwidth. Wide bandwidths use more bins.
constexpr std::array<double, kBandwidths.size()> kBandwidthPrior = {0.1, 0.2, 0.3, 0.4};
// Uses every second exponent, including the integers, which are the most likely exponents.
constexpr ExponentGrid kHeldOutExponents = {.min = 0.4, .step = 0.2};

// Returns the error of the bandwidth at held-out sizes, or nullopt if there are too few bins.
std::optional<HeldOutError> HoldOut(const CurveData& data, double bandwidth) {
  HeldOutError error;
  double sum_of_means = 0;
  double means = 0;
  for (const double octaves : kHeldOut) {
    double sum = 0;
    double count = 0;
    const double limit = -octaves * std::numbers::ln2;
    const auto first = std::lower_bound(data.log_x.begin(), data.log_x.end(), limit);
    const auto kept = static_cast<std::size_t>(first - data.log_x.begin());
    if (kept < 4 || kept == data.x.size()) continue;
    const std::vector<FittedCurve> fits =
        FitCurves(data, BandwidthWeights(data, bandwidth, kept - 1), kHeldOutExponents);
    std::vector<CostCurve> curves;
    AddPosterior(fits, kept, 1, curves);
    KeepLikely(curves);
    // The mean over the curves treats their disagreement as an error.
    for (std::size_t i = kept; i < data.x.size(); ++i) {
      double squared = 0;
      for (const CostCurve& curve : curves) {
        const double off =
            std::log(std::max(Evaluate(curve, data.x[i], data.y[i]), 1e-300) / data.unit[i]);
        squared += curve.probability * std::min(off * off, kSquaredErrorMax);
      }
      // Noise is not an error of the fit, so it is subtracted.
      sum += std::max(0.0, squared - data.error[i]) / data.error[i];
      count += 1 / data.error[i];
    }
    if (means == 0) error.nearest = sum / count;
    sum_of_means += sum / count;
    means += 1;
  }
  if (means == 0) return std::nullopt;
  error.mean = sum_of_means / means;
  return error;
}

}  // namespace

std::vector<double> BandwidthWeights(const CurveData& data, double bandwidth, std::size_t last) {
  std::vector<double> weight(last + 1);
  for (std::size_t i = 0; i <= last; ++i) {
    weight[i] = data.base[i] * std::exp((data.log_x[i] - data.log_x[last]) / bandwidth);
  }
  return weight;
}

BandwidthChoice ChooseBandwidths(const CurveData& data) {
  BandwidthChoice choice = {.shares = kBandwidthPrior, .error = std::nullopt};
  std::array<HeldOutError, kBandwidths.size()> errors;
  for (std::size_t f = 0; f < kBandwidths.size(); ++f) {
    const std::optional<HeldOutError> error = HoldOut(data, kBandwidths[f]);
    if (!error) return choice;
    errors[f] = *error;
    errors[f].mean += kBinVarianceMin;  // Smaller errors do not matter.
  }
  choice.error = *std::min_element(
      errors.begin(), errors.end(),
      [](const HeldOutError& a, const HeldOutError& b) { return a.mean < b.mean; });
  double sum = 0;
  for (std::size_t f = 0; f < kBandwidths.size(); ++f) {
    choice.shares[f] *= std::pow(choice.error->mean / errors[f].mean, kEvidencePower);
    sum += choice.shares[f];
  }
  for (double& share : choice.shares) share /= sum;
  return choice;
}

}  // namespace tidemark::regression
