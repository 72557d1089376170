#include "regression/curve_family.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "regression/nonnegative_least_squares.h"

namespace tidemark::regression {
namespace {

// An error of so many times the squared one that is expected, and of another tenth, makes a bin
// count half. Ablation: +0.85, -0.70; +0.12, -0.70 (join lost-10).
constexpr double kRobustErrors = 6;
constexpr double kRobustVariance = 0.01;

// What does not change from one exponent to the next: sums, and what powers are multiplied with.
class EquationsOfExponents {
 public:
  // Bins from `weight.size()` on count nothing.
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

// The least squares in one subset of the coefficients; infinite where there are none.
struct Solution {
  std::array<double, 3> coefficients{};
  double chi_squared = std::numeric_limits<double>::infinity();
};
// By subset, as bits of (a, l, b).
using Solutions = std::array<Solution, 8>;

constexpr unsigned kPowerBit = 0b100;

// Those with a power or those without, which are the same for all exponents.
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
  // Fewer terms first: more must be clearly better.
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

}  // namespace tidemark::regression
