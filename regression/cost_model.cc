#include "regression/cost_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

namespace tidemark::regression {
namespace {

constexpr double kExponentStep = 0.1;
constexpr double kExponentMin = 0.3;
constexpr double kLinearExponentMin = 1.5;
constexpr double kApartExponentMin = 0.8;
constexpr double kExponentMax = 5.0;
// No bin is known better than this, relative: curves are not exact.
constexpr double kBinErrorMin = 0.03;
// No curve is right everywhere, and what matters is how it goes on beyond the data. So each is
// fitted with several foci: weight halves every so many octaves below the largest size.
constexpr std::array<double, 4> kFoci = {0.7, 1.5, 3, 8};
// A focus is judged by what it would have said of the largest sizes from the others: so many
// octaves are held out.
constexpr std::array<double, 3> kHeldOut = {1, 2.2, 4.5};
// An error of prediction that does not count against a focus; how soon errors rule it out.
constexpr double kFocusError = 0.01;
// What a focus counts before that: the wider, the more it has seen.
constexpr std::array<double, 4> kFocusPrior = {0.1, 0.2, 0.3, 0.4};
constexpr double kFocusEvidence = 3;
// Every second exponent does, but whole ones, the likeliest, must be among them.
constexpr double kHeldOutExponentMin = 0.4;
constexpr double kHeldOutExponentStep = 0.2;
// How far the nearest held-out sizes lie beyond the others, and limits of what is learnt there.
constexpr double kHeldOutOctaves = 0.7;
constexpr double kSpreadPerOctaveMin = 0.01;
constexpr double kSpreadPerOctaveMax = 0.2;
// Amounts below this part of the largest are as good as zero: a curve need not be right there in
// relative terms.
constexpr double kNegligible = 1e-4;
// What the exponent is taken to be before anything is known, by Student's t: few costs are of a
// high power, but a few key groups must be able to show one. Whole numbers are likelier.
constexpr double kExponentMean = 1.3;
constexpr double kExponentDeviation = 0.7;
constexpr double kExponentDegrees = 3;
constexpr double kPriceOfBrokenExponent = 3;
constexpr double kProbabilityMin = 0.002;
constexpr std::size_t kCurvesMax = 24;
// The kernel: width in octaves, and how far observed means may pull a curve.
constexpr double kKernelOctaves = 0.35;
constexpr double kPullPrior = 1 / (0.15 * 0.15);
constexpr double kObservedErrorMin = 0.02;
// Relative variance of a key group before any was seen, and how many it counts for.
constexpr double kPriorVariance = 0.09;
constexpr double kPriorVarianceWeight = 1;
constexpr double kShrinkWeight = 2;
// Noise is alike among sizes that are this many octaves apart.
constexpr double kVarianceMax = 4;
constexpr double kNoiseOctaves = 1.5;
constexpr double kNoiseEvidenceMax = 20;  // of one bin
constexpr double kNoiseReach = 4;         // in these widths; beyond, a bin tells a part in 3,000

constexpr std::size_t kCoefficients = 3;

struct Weighted {
  std::vector<double> x;  // size / scale
  std::vector<double> y;  // bytes / scale of bytes
  bool y_is_x = true;
  std::vector<double> log_x;
  std::vector<double> m;      // amount
  std::vector<double> unit;   // what an error is measured in
  std::vector<double> base;   // weight without the robust factor
  std::vector<double> error;  // squared relative error expected of a bin's mean
};

struct Fitted {
  CostCurve curve;
  double chi_squared = std::numeric_limits<double>::infinity();
  bool is_linear = false;
};

// Least squares in up to three coefficients that must not be negative, by all their subsets.
// gram is the upper triangle over (a, l, b); right is what they must meet.
struct NormalEquations {
  std::array<std::array<double, 3>, 3> gram{};
  std::array<double, 3> right{};
  double target = 0;

  double ChiSquared(const std::array<double, 3>& s) const {
    double chi = target;
    for (int i = 0; i < 3; ++i) {
      chi -= 2 * s[i] * right[i];
      for (int j = 0; j < 3; ++j) chi += s[i] * s[j] * gram[std::min(i, j)][std::max(i, j)];
    }
    return std::max(0.0, chi);
  }

  // False if the subset is singular or has a negative coefficient.
  bool Solve(unsigned subset, std::array<double, 3>& solution) const {
    std::array<int, 3> index{};
    int n = 0;
    for (int i = 0; i < 3; ++i) {
      if ((subset >> i) & 1U) index[n++] = i;
    }
    if (n == 1) return SolveOne(index[0], solution);
    if (n == 2) return SolveTwo(index[0], index[1], solution);
    return SolveThree(solution);
  }

 private:
  static constexpr double kSingular = 1e-12;  // of a diagonal element, after elimination
  static bool IsCoefficient(double value) { return value >= 0 && std::isfinite(value); }

  bool SolveOne(int i, std::array<double, 3>& s) const {
    if (!(gram[i][i] > 0)) return false;
    s = {};
    s[i] = right[i] / gram[i][i];
    return IsCoefficient(s[i]);
  }

  // i < j
  bool SolveTwo(int i, int j, std::array<double, 3>& s) const {
    if (!(gram[i][i] > 0) || !(gram[j][j] > 0)) return false;
    const double factor = gram[i][j] / gram[i][i];
    const double left = gram[j][j] - factor * gram[i][j];
    if (!(left > kSingular * gram[j][j])) return false;
    s = {};
    s[j] = (right[j] - factor * right[i]) / left;
    s[i] = (right[i] - gram[i][j] * s[j]) / gram[i][i];
    return IsCoefficient(s[j]) && IsCoefficient(s[i]);
  }

  bool SolveThree(std::array<double, 3>& s) const {
    if (!(gram[0][0] > 0) || !(gram[1][1] > 0) || !(gram[2][2] > 0)) return false;
    const double of_one = gram[0][1] / gram[0][0];
    const double of_two = gram[0][2] / gram[0][0];
    const double g11 = gram[1][1] - of_one * gram[0][1];
    const double g12 = gram[1][2] - of_one * gram[0][2];
    const double r1 = right[1] - of_one * right[0];
    if (!(g11 > kSingular * gram[1][1])) return false;
    const double factor = (gram[1][2] - of_two * gram[0][1]) / g11;
    const double g22 = gram[2][2] - of_two * gram[0][2] - factor * g12;
    if (!(g22 > kSingular * gram[2][2])) return false;
    s[2] = (right[2] - of_two * right[0] - factor * r1) / g22;
    s[1] = (r1 - g12 * s[2]) / g11;
    s[0] = (right[0] - gram[0][1] * s[1] - gram[0][2] * s[2]) / gram[0][0];
    return IsCoefficient(s[2]) && IsCoefficient(s[1]) && IsCoefficient(s[0]);
  }
};

// What does not change from one exponent to the next: sums, and what powers are multiplied with.
class EquationsOfExponents {
 public:
  // Bins from `weight.size()` on count nothing.
  EquationsOfExponents(const Weighted& data, const std::vector<double>& weight) {
    for (std::size_t i = 0; i < weight.size(); ++i) {
      const double one = 1 / data.unit[i];
      const double w = weight[i] * one;
      const double lin = data.y[i] * one;
      const double target = data.m[i] * one;
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
void SolveSubsets(const NormalEquations& equations, bool with_power, bool with_linear,
                  Solutions& solutions) {
  for (unsigned subset = 1; subset < solutions.size(); ++subset) {
    if (((subset & kPowerBit) != 0) != with_power) continue;
    if ((subset & 0b010) != 0 && !with_linear) continue;
    Solution solution;
    if (equations.Solve(subset, solution.coefficients)) {
      solution.chi_squared = equations.ChiSquared(solution.coefficients);
    }
    solutions[subset] = solution;
  }
}

Fitted FitCurve(const Solutions& solutions, double target, double exponent, bool is_linear) {
  // Fewer terms first: more must be clearly better.
  constexpr std::array<unsigned, 3> kOfPower = {0b100, 0b001, 0b101};
  constexpr std::array<unsigned, 7> kOfLinear = {0b100, 0b010, 0b001, 0b101, 0b110, 0b011, 0b111};
  Fitted best;
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

double Evaluate(const CostCurve& curve, double x, double y) {
  return curve.a + curve.l * y + curve.b * std::pow(x, curve.c);
}

std::vector<Fitted> FitAll(const Weighted& data, const std::vector<double>& weight,
                           double exponent_min = kExponentMin,
                           double exponent_step = kExponentStep) {
  std::vector<Fitted> fits;
  const EquationsOfExponents equations(data, weight);
  std::vector<double> power(weight.size());
  std::vector<double> step(weight.size());
  for (std::size_t i = 0; i < weight.size(); ++i) {
    power[i] = std::exp(exponent_min * data.log_x[i]);
    step[i] = std::exp(exponent_step * data.log_x[i]);
  }
  const int steps = static_cast<int>(std::lround((kExponentMax - exponent_min) / exponent_step));
  fits.reserve(2 * static_cast<std::size_t>(steps + 1));
  Solutions solutions;
  SolveSubsets(equations.With(power), false, true, solutions);
  for (int s = 0; s <= steps; ++s) {
    const double exponent = exponent_min + exponent_step * s;
    const NormalEquations with_power = equations.With(power);
    const bool is_linear =
        exponent > (data.y_is_x ? kLinearExponentMin : kApartExponentMin) - exponent_step / 2;
    SolveSubsets(with_power, true, is_linear, solutions);
    fits.push_back(FitCurve(solutions, with_power.target, exponent, false));
    if (is_linear) fits.push_back(FitCurve(solutions, with_power.target, exponent, true));
    for (std::size_t i = 0; i < power.size(); ++i) power[i] *= step[i];
  }
  return fits;
}

const Fitted& BestOf(const std::vector<Fitted>& fits) {
  return *std::min_element(fits.begin(), fits.end(), [](const Fitted& a, const Fitted& b) {
    return a.chi_squared < b.chi_squared;
  });
}

// Bins that no curve explains count for less (Cauchy).
std::vector<double> RobustWeights(const Weighted& data, std::vector<double> weight,
                                  const CostCurve& best) {
  for (std::size_t i = 0; i < weight.size(); ++i) {
    const double off = (Evaluate(best, data.x[i], data.y[i]) - data.m[i]) / data.unit[i];
    weight[i] /= 1 + off * off / (data.error[i] + 0.01) / 6;
  }
  return weight;
}

double LogPrior(const Fitted& fit, std::size_t bins) {
  const double c = fit.curve.c;
  const double away = (c - kExponentMean) / kExponentDeviation;
  double log = -(kExponentDegrees + 1) / 2 * std::log1p(away * away / kExponentDegrees) -
               kPriceOfBrokenExponent * std::abs(c - std::round(c));
  if (fit.is_linear) log -= std::log(static_cast<double>(bins) + 2);
  return log;
}

// Adds the curves of one focus with their probabilities, `share` in all.
void AddPosterior(const std::vector<Fitted>& fits, std::size_t bins, double share,
                  std::vector<CostCurve>& all) {
  const double least = BestOf(fits).chi_squared;
  const double degrees = bins > 4 ? static_cast<double>(bins) - 3 : 1;
  const double scale = std::max(1.0, least / degrees);
  std::vector<CostCurve> curves;
  double highest = -std::numeric_limits<double>::infinity();
  for (const Fitted& fit : fits) {
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

// The most probable ones, which have nearly all of the probability.
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

// The weight of every bin up to `last` for a focus whose largest size is of that one.
std::vector<double> FocusedWeights(const Weighted& data, double focus, std::size_t last) {
  std::vector<double> weight(last + 1);
  for (std::size_t i = 0; i <= last; ++i) {
    weight[i] = data.base[i] * std::exp((data.log_x[i] - data.log_x[last]) / focus);
  }
  return weight;
}

// How far a focus would have been off about the largest sizes, in mean squares of the logarithm,
// had it not known them.
struct HeldOutError {
  double mean = 0;     // over all that were held out
  double nearest = 0;  // where the fewest octaves were
};

// Empty when there is too little to tell.
std::optional<HeldOutError> HoldOut(const Weighted& data, double focus) {
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
    const std::vector<Fitted> fits = FitAll(data, FocusedWeights(data, focus, kept - 1),
                                            kHeldOutExponentMin, kHeldOutExponentStep);
    std::vector<CostCurve> curves;
    AddPosterior(fits, kept, 1, curves);
    KeepLikely(curves);
    // The mean over the curves: to be undecided counts as much as to be wrong.
    for (std::size_t i = kept; i < data.x.size(); ++i) {
      double squared = 0;
      for (const CostCurve& curve : curves) {
        const double off =
            std::log(std::max(Evaluate(curve, data.x[i], data.y[i]), 1e-300) / data.unit[i]);
        squared += curve.probability * std::min(off * off, kVarianceMax);
      }
      // Noise is nobody's fault.
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

struct FocusChoice {
  std::array<double, kFoci.size()> shares = kFocusPrior;
  std::optional<HeldOutError> error;  // of the best
};

// By what the foci would have said.
FocusChoice ChooseFocus(const Weighted& data) {
  FocusChoice choice;
  std::array<HeldOutError, kFoci.size()> errors;
  for (std::size_t f = 0; f < kFoci.size(); ++f) {
    const std::optional<HeldOutError> error = HoldOut(data, kFoci[f]);
    if (!error) return choice;
    errors[f] = *error;
    errors[f].mean += kFocusError * kFocusError;
  }
  choice.error = *std::min_element(
      errors.begin(), errors.end(),
      [](const HeldOutError& a, const HeldOutError& b) { return a.mean < b.mean; });
  double sum = 0;
  for (std::size_t f = 0; f < kFoci.size(); ++f) {
    choice.shares[f] *= std::pow(choice.error->mean / errors[f].mean, kFocusEvidence);
    sum += choice.shares[f];
  }
  for (double& share : choice.shares) share /= sum;
  return choice;
}

double Kernel(double octaves) {
  const double d = octaves / kKernelOctaves;
  const double base = 1 + d * d;
  return 1 / (base * base);
}

// Relative variance at every bin's size: that of the bins themselves and of alike ones. Sizes are
// logarithms to base 2.
std::vector<double> SmoothVariance(const std::vector<CostBin>& bins,
                                   const std::vector<double>& log_size,
                                   const std::vector<double>& evidence,
                                   const std::vector<double>& variance) {
  // What the amounts depend on counts, not the many small key groups that make little difference.
  double mean = 0;
  double amount = 0;
  double all = 0;
  for (std::size_t b = 0; b < bins.size(); ++b) {
    const double share = evidence[b] > 0 ? bins[b].amount * bins[b].count : 0;
    // A bin that is unlike all others must not speak for them.
    mean += share * std::min(variance[b], kVarianceMax / 4);
    amount += share;
    all += evidence[b];
  }
  double of_all = kPriorVarianceWeight * kPriorVariance;
  if (amount > 0) of_all += all * mean / amount;
  of_all /= kPriorVarianceWeight + (amount > 0 ? all : 0);
  std::vector<double> smooth;
  for (std::size_t at = 0; at < bins.size(); ++at) {
    double sum = kPriorVarianceWeight * of_all;
    double weight = kPriorVarianceWeight;
    for (std::size_t b = 0; b < bins.size(); ++b) {
      const double d = (log_size[b] - log_size[at]) / kNoiseOctaves;
      if (std::abs(d) > kNoiseReach) continue;
      const double w = evidence[b] * std::exp(-0.5 * d * d);
      sum += w * variance[b];
      weight += w;
    }
    smooth.push_back(sum / weight);
  }
  return smooth;
}

// How far every bin is from the curve that is nearest to all of them, as the relative variance of
// one key group; infinite where so few bins are near some curve anyway.
std::vector<double> CurveResiduals(const Weighted& data, const std::vector<CostBin>& bins) {
  std::vector<double> residuals(bins.size(), std::numeric_limits<double>::infinity());
  if (bins.size() <= kCoefficients) return residuals;
  const CostCurve best = BestOf(FitAll(data, std::vector<double>(bins.size(), 1.0))).curve;
  const auto count = static_cast<double>(bins.size());
  for (std::size_t b = 0; b < bins.size(); ++b) {
    const double off = (Evaluate(best, data.x[b], data.y[b]) - data.m[b]) / data.unit[b];
    residuals[b] = off * off * bins[b].count * count / (count - kCoefficients);
  }
  return residuals;
}

double Corrected(const CostCorrection& correction, double fitted) {
  return std::max(0.0, correction.factor * fitted + correction.shift);
}

// What bins of few key groups tell of the noise, as which nothing counts that a smooth cost
// explains: either one of the curves, or, in logarithms, the straight line through a bin's
// neighbours.
void AddResiduals(const Weighted& data, const std::vector<CostBin>& bins,
                  std::vector<double>& evidence, std::vector<double>& within) {
  const std::vector<double> from_curve = CurveResiduals(data, bins);
  for (std::size_t b = 1; b + 1 < bins.size(); ++b) {
    const CostBin& below = bins[b - 1];
    const CostBin& above = bins[b + 1];
    if (!(below.amount > 0) || !(bins[b].amount > 0) || !(above.amount > 0)) continue;
    const double w = std::log(bins[b].size / below.size) / std::log(above.size / below.size);
    const double off =
        std::log(bins[b].amount / below.amount) - w * std::log(above.amount / below.amount);
    const double groups = 1 / bins[b].count + w * w / above.count + (1 - w) * (1 - w) / below.count;
    const double total =
        evidence[b] * within[b] + std::min({off * off / groups, from_curve[b], kVarianceMax});
    evidence[b] += 1;
    within[b] = total / evidence[b];
  }
}

}  // namespace

CostModel CostModel::Fit(std::vector<CostBin> bins) {
  std::erase_if(bins, [](const CostBin& bin) {
    return !(bin.count > 0) || !(bin.size > 0) || !std::isfinite(bin.size) || !(bin.amount >= 0) ||
           !std::isfinite(bin.amount) || !(bin.relative_variance >= 0);
  });
  CostModel model;
  if (bins.empty()) return model;
  double largest = 0;
  for (const CostBin& bin : bins) largest = std::max(largest, bin.amount);
  Weighted data;
  model.negligible_ = largest > 0 ? kNegligible * largest : 1e-12;

  model.bins_ = std::move(bins);
  model.scale_ = model.bins_.back().size;
  for (CostBin& bin : model.bins_) {
    if (bin.bytes > 0 && bin.bytes != bin.size) data.y_is_x = false;
    if (!(bin.bytes > 0)) bin.bytes = bin.size;
    model.bytes_scale_ = std::max(model.bytes_scale_, bin.bytes);
    model.log_sizes_.push_back(std::log2(bin.size));
  }
  std::vector<double> evidence;
  std::vector<double> within;
  for (const CostBin& bin : model.bins_) {
    evidence.push_back(std::clamp(bin.count - 1, 0.0, kNoiseEvidenceMax));
    within.push_back(std::min(bin.relative_variance, kVarianceMax));
  }
  for (const CostBin& bin : model.bins_) {
    data.x.push_back(bin.size / model.scale_);
    data.y.push_back(bin.bytes / model.bytes_scale_);
    data.log_x.push_back(std::log(data.x.back()));
    data.m.push_back(bin.amount);
    data.unit.push_back(bin.amount + model.negligible_);
  }
  AddResiduals(data, model.bins_, evidence, within);
  const std::vector<double> first_guess =
      SmoothVariance(model.bins_, model.log_sizes_, evidence, within);
  for (std::size_t b = 0; b < model.bins_.size(); ++b) {
    const CostBin& bin = model.bins_[b];
    const double own = evidence[b];
    const double variance =
        (own * within[b] + kShrinkWeight * first_guess[b]) / (own + kShrinkWeight);
    data.error.push_back(variance / bin.count + kBinErrorMin * kBinErrorMin);
    data.base.push_back(1 / data.error.back());
  }
  const FocusChoice choice = ChooseFocus(data);
  const auto& shares = choice.shares;
  if (choice.error) {
    model.score_ = choice.error->mean;
    model.spread_per_octave_ = std::clamp(std::sqrt(choice.error->nearest) / kHeldOutOctaves,
                                          kSpreadPerOctaveMin, kSpreadPerOctaveMax);
  }
  for (std::size_t f = 0; f < kFoci.size(); ++f) {
    if (shares[f] < kProbabilityMin) continue;
    const std::vector<double> weight = FocusedWeights(data, kFoci[f], data.x.size() - 1);
    const std::vector<Fitted> first = FitAll(data, weight);
    const std::vector<Fitted> fits = FitAll(data, RobustWeights(data, weight, BestOf(first).curve));
    AddPosterior(fits, model.bins_.size(), shares[f], model.curves_);
  }
  KeepLikely(model.curves_);
  // Amounts so large that their squares are no numbers: no curve is near them.
  if (model.curves_.empty()) return CostModel();
  model.TakeResiduals(evidence, within);
  return model;
}

// What the curves leave unexplained: ratios for the corrections, and, since a key group that
// stands alone in its bin has nothing but its curve to differ from, the final word on noise.
void CostModel::TakeResiduals(std::vector<double> evidence, std::vector<double> within) {
  for (std::size_t b = 0; b < bins_.size(); ++b) {
    const double fitted = Curve(0, bins_[b].size, bins_[b].bytes);
    const double off = (bins_[b].amount - fitted) / (fitted + negligible_);
    const double total = evidence[b] * within[b] + std::min(off * off, kVarianceMax);
    evidence[b] += 1;
    within[b] = total / evidence[b];
  }
  noise_ = SmoothVariance(bins_, log_sizes_, evidence, within);
  double amount = 0;
  double unexplained = 0;
  for (std::size_t b = 0; b < bins_.size(); ++b) {
    amount += bins_[b].amount * bins_[b].count;
    unexplained += bins_[b].amount * bins_[b].count * std::min(within[b], kVarianceMax);
  }
  if (amount > 0) score_ += unexplained / amount;
  for (std::size_t k = 0; k < curves_.size(); ++k) {
    std::vector<double>& ratios = ratios_.emplace_back();
    for (const CostBin& bin : bins_) {
      ratios.push_back((bin.amount + negligible_) / (Curve(k, bin.size, bin.bytes) + negligible_));
    }
  }
}

double CostModel::RelativeVariance(double size) const {
  if (size <= bins_.front().size) return noise_.front();
  if (size >= bins_.back().size) return noise_.back();
  const auto above = std::lower_bound(bins_.begin(), bins_.end(), size,
                                      [](const CostBin& bin, double s) { return bin.size < s; });
  const auto i = static_cast<std::size_t>(above - bins_.begin());
  const double span = std::log(bins_[i].size / bins_[i - 1].size);
  const double part = span > 0 ? std::log(size / bins_[i - 1].size) / span : 0;
  return noise_[i - 1] + part * (noise_[i] - noise_[i - 1]);
}

double CostModel::OctavesBeyond(double size) const {
  return empty() || size <= size_max() ? 0 : std::log2(size / size_max());
}

std::vector<CostCorrection> CostModel::Corrections(double size) const {
  std::vector<double> above(curves_.size(), kPullPrior);
  double weight = kPullPrior;
  const double log_size = std::log2(size);
  for (std::size_t b = 0; b < bins_.size(); ++b) {
    const double kernel = Kernel(log_size - log_sizes_[b]);
    if (kernel < 1e-5) continue;
    const double w = kernel / (noise_[b] / bins_[b].count + kObservedErrorMin * kObservedErrorMin);
    weight += w;
    for (std::size_t k = 0; k < curves_.size(); ++k) above[k] += w * ratios_[k][b];
  }
  std::vector<CostCorrection> corrections;
  corrections.reserve(above.size());
  for (const double sum : above) {
    const double rho = sum / weight;
    corrections.push_back({rho, (rho - 1) * negligible_});
  }
  return corrections;
}

double CostModel::Curve(std::size_t k, double size, double bytes) const {
  return Evaluate(curves_[k], size / scale_, bytes / bytes_scale_);
}

double CostModel::Predict(std::size_t k, double size, double bytes) const {
  return Corrected(Corrections(size)[k], Curve(k, size, bytes));
}

double CostModel::Predict(double size, double bytes) const {
  const std::vector<CostCorrection> corrections = Corrections(size);
  double sum = 0;
  for (std::size_t k = 0; k < curves_.size(); ++k) {
    sum += curves_[k].probability * Corrected(corrections[k], Curve(k, size, bytes));
  }
  return sum;
}

double CostModel::PredictMedian(double size, double bytes) const {
  const std::vector<CostCorrection> corrections = Corrections(size);
  std::vector<std::pair<double, double>> predictions;  // with their probabilities
  for (std::size_t k = 0; k < curves_.size(); ++k) {
    predictions.emplace_back(Corrected(corrections[k], Curve(k, size, bytes)),
                             curves_[k].probability);
  }
  std::sort(predictions.begin(), predictions.end());
  double below = 0;
  for (const auto& [prediction, probability] : predictions) {
    below += probability;
    if (below >= 0.5) return prediction;
  }
  return predictions.empty() ? 0 : predictions.back().first;
}

}  // namespace tidemark::regression
