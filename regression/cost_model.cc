#include "regression/cost_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace tidemark::regression {
namespace {

constexpr double kExponentStep = 0.1;
constexpr double kExponentMin = 0.3;
constexpr double kLinearExponentMin = 1.5;
constexpr double kExponentMax = 5.0;
// No bin is known better than this, relative: curves are not exact.
constexpr double kBinErrorMin = 0.05;
// Weight halves every ten octaves below the largest size: what is left is mostly large.
constexpr double kOctavesOfHalfWeight = 10;
// What the exponent is taken to be before anything is known; whole numbers are likelier.
constexpr double kExponentMean = 1.3;
constexpr double kExponentDeviation = 0.7;
constexpr double kPriceOfBrokenExponent = 3;
constexpr double kProbabilityMin = 0.002;
constexpr std::size_t kCurvesMax = 24;
// The kernel: width in octaves, and how far observed means may pull a curve.
constexpr double kKernelOctaves = 0.35;
constexpr double kPullPrior = 1 / (0.15 * 0.15);
constexpr double kObservedErrorMin = 0.02;
// Relative variance of a key group before any was seen, and how many it counts for.
constexpr double kPriorVariance = 0.09;
constexpr double kPriorVarianceWeight = 5;
constexpr double kShrinkWeight = 4;

struct Weighted {
  std::vector<double> x;  // size / scale
  std::vector<double> log_x;
  std::vector<double> m;      // amount
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
    std::array<std::array<double, 4>, 3> m{};
    for (int r = 0; r < n; ++r) {
      for (int c = 0; c < n; ++c) {
        m[r][c] = gram[std::min(index[r], index[c])][std::max(index[r], index[c])];
      }
      m[r][n] = right[index[r]];
    }
    for (int p = 0; p < n; ++p) {
      const double whole = gram[index[p]][index[p]];
      if (!(m[p][p] > 1e-12 * whole) || !(whole > 0)) return false;
      for (int r = p + 1; r < n; ++r) {
        const double factor = m[r][p] / m[p][p];
        for (int c = p; c <= n; ++c) m[r][c] -= factor * m[p][c];
      }
    }
    solution = {};
    for (int r = n - 1; r >= 0; --r) {
      double value = m[r][n];
      for (int c = r + 1; c < n; ++c) value -= m[r][c] * solution[index[c]];
      value /= m[r][r];
      if (!(value >= 0) || !std::isfinite(value)) return false;
      solution[index[r]] = value;
    }
    return true;
  }
};

Fitted FitCurve(const Weighted& data, const std::vector<double>& weight,
                const std::vector<double>& power, double exponent, bool is_linear) {
  NormalEquations equations;
  auto& gram = equations.gram;
  auto& right = equations.right;
  for (std::size_t i = 0; i < data.x.size(); ++i) {
    const double w = weight[i];
    const double one = 1 / data.m[i];
    const double lin = data.x[i] * one;
    const double pow = power[i] * one;
    gram[0][0] += w * one * one;
    gram[0][1] += w * one * lin;
    gram[0][2] += w * one * pow;
    gram[1][1] += w * lin * lin;
    gram[1][2] += w * lin * pow;
    gram[2][2] += w * pow * pow;
    right[0] += w * one;
    right[1] += w * lin;
    right[2] += w * pow;
    equations.target += w;
  }
  // Fewer terms first: more must be clearly better.
  constexpr std::array<unsigned, 3> kOfPower = {0b100, 0b001, 0b101};
  constexpr std::array<unsigned, 7> kOfLinear = {0b100, 0b010, 0b001, 0b101, 0b110, 0b011, 0b111};
  Fitted best;
  best.is_linear = is_linear;
  const auto try_subset = [&](unsigned subset) {
    std::array<double, 3> s{};
    if (!equations.Solve(subset, s)) return;
    const double chi = equations.ChiSquared(s);
    if (!(chi < best.chi_squared - 1e-9 * equations.target)) return;
    best.chi_squared = chi;
    best.curve = {s[0], s[1], s[2], exponent, 0};
  };
  if (is_linear) {
    for (const unsigned subset : kOfLinear) try_subset(subset);
  } else {
    for (const unsigned subset : kOfPower) try_subset(subset);
  }
  return best;
}

double Evaluate(const CostCurve& curve, double x) {
  return curve.a + curve.l * x + curve.b * std::pow(x, curve.c);
}

std::vector<Fitted> FitAll(const Weighted& data, const std::vector<double>& weight) {
  std::vector<Fitted> fits;
  std::vector<double> power(data.x.size());
  std::vector<double> step(data.x.size());
  for (std::size_t i = 0; i < data.x.size(); ++i) {
    power[i] = std::exp(kExponentMin * data.log_x[i]);
    step[i] = std::exp(kExponentStep * data.log_x[i]);
  }
  const int steps = static_cast<int>(std::lround((kExponentMax - kExponentMin) / kExponentStep));
  for (int s = 0; s <= steps; ++s) {
    const double exponent = kExponentMin + kExponentStep * s;
    fits.push_back(FitCurve(data, weight, power, exponent, false));
    if (exponent > kLinearExponentMin - kExponentStep / 2) {
      fits.push_back(FitCurve(data, weight, power, exponent, true));
    }
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
std::vector<double> RobustWeights(const Weighted& data, const CostCurve& best) {
  std::vector<double> weight = data.base;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    const double off = Evaluate(best, data.x[i]) / data.m[i] - 1;
    weight[i] /= 1 + off * off / (data.error[i] + 0.01) / 6;
  }
  return weight;
}

double LogPrior(const Fitted& fit, std::size_t bins) {
  const double c = fit.curve.c;
  const double away = (c - kExponentMean) / kExponentDeviation;
  double log = -0.5 * away * away - kPriceOfBrokenExponent * std::abs(c - std::round(c));
  if (fit.is_linear) log -= std::log(static_cast<double>(bins) + 2);
  return log;
}

std::vector<CostCurve> Posterior(const std::vector<Fitted>& fits, std::size_t bins) {
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
  std::sort(curves.begin(), curves.end(),
            [](const CostCurve& a, const CostCurve& b) { return a.probability > b.probability; });
  std::size_t kept = 0;
  double kept_sum = 0;
  while (kept < std::min(curves.size(), kCurvesMax) &&
         curves[kept].probability >= kProbabilityMin * sum) {
    kept_sum += curves[kept++].probability;
  }
  curves.resize(kept);
  for (CostCurve& curve : curves) curve.probability /= kept_sum;
  return curves;
}

double Kernel(double octaves) {
  const double d = octaves / kKernelOctaves;
  const double base = 1 + d * d;
  return 1 / (base * base);
}

// Of the relative variance, weighted by how many key groups tell of it.
double PooledVariance(const std::vector<CostBin>& bins) {
  double sum = kPriorVarianceWeight * kPriorVariance;
  double weight = kPriorVarianceWeight;
  for (const CostBin& bin : bins) {
    if (bin.count < 2) continue;
    // A bin of a million tells no more about the large ones than one of a hundred.
    const double w = std::min(bin.count - 1, 100.0);
    sum += w * std::min(bin.relative_variance, 4.0);
    weight += w;
  }
  return sum / weight;
}

}  // namespace

double ShrunkVariance(double count, double relative_variance, double pooled) {
  const double own = std::max(0.0, count - 1);
  return (own * std::min(relative_variance, 16.0) + kShrinkWeight * pooled) / (own + kShrinkWeight);
}

CostModel CostModel::Fit(std::vector<CostBin> bins) {
  std::erase_if(bins, [](const CostBin& bin) {
    return !(bin.count > 0) || !(bin.size > 0) || !std::isfinite(bin.size) || !(bin.amount >= 0) ||
           !std::isfinite(bin.amount) || !(bin.relative_variance >= 0);
  });
  CostModel model;
  if (bins.empty()) return model;
  double largest = 0;
  for (const CostBin& bin : bins) largest = std::max(largest, bin.amount);
  // Zeros have no relative error; a clock that saw nothing saw at least this.
  const double least = largest > 0 ? 1e-9 * largest : 1e-12;
  for (CostBin& bin : bins) bin.amount = std::max(bin.amount, least);

  model.bins_ = std::move(bins);
  model.scale_ = model.bins_.back().size;
  model.pooled_variance_ = PooledVariance(model.bins_);
  Weighted data;
  for (CostBin& bin : model.bins_) {
    bin.relative_variance =
        ShrunkVariance(bin.count, bin.relative_variance, model.pooled_variance_);
    const double x = bin.size / model.scale_;
    data.x.push_back(x);
    data.log_x.push_back(std::log(x));
    data.m.push_back(bin.amount);
    data.error.push_back(bin.relative_variance / bin.count + kBinErrorMin * kBinErrorMin);
    data.base.push_back(std::exp2(std::log2(x) / kOctavesOfHalfWeight) / data.error.back());
  }
  const std::vector<Fitted> first = FitAll(data, data.base);
  const std::vector<Fitted> fits = FitAll(data, RobustWeights(data, BestOf(first).curve));
  model.curves_ = Posterior(fits, model.bins_.size());
  for (std::size_t k = 0; k < model.curves_.size(); ++k) {
    std::vector<double>& ratios = model.ratios_.emplace_back();
    for (const CostBin& bin : model.bins_) ratios.push_back(bin.amount / model.Curve(k, bin.size));
  }
  return model;
}

double CostModel::RelativeVariance(double size) const {
  double sum = 1e-6 * pooled_variance_;
  double weight = 1e-6;
  for (const CostBin& bin : bins_) {
    const double w = Kernel((std::log2(size) - std::log2(bin.size)) / 3);
    sum += w * bin.relative_variance;
    weight += w;
  }
  return sum / weight;
}

double CostModel::OctavesBeyond(double size) const {
  return empty() || size <= size_max() ? 0 : std::log2(size / size_max());
}

std::vector<double> CostModel::Corrections(double size) const {
  std::vector<double> above(curves_.size(), kPullPrior);
  double weight = kPullPrior;
  const double log_size = std::log2(size);
  for (std::size_t b = 0; b < bins_.size(); ++b) {
    const double kernel = Kernel(log_size - std::log2(bins_[b].size));
    if (kernel < 1e-5) continue;
    const double w = kernel / (bins_[b].relative_variance / bins_[b].count +
                               kObservedErrorMin * kObservedErrorMin);
    weight += w;
    for (std::size_t k = 0; k < curves_.size(); ++k) above[k] += w * ratios_[k][b];
  }
  for (double& value : above) value /= weight;
  return above;
}

double CostModel::Curve(std::size_t k, double size) const {
  return Evaluate(curves_[k], size / scale_);
}

double CostModel::Predict(std::size_t k, double size) const {
  return Correction(k, size) * Curve(k, size);
}

double CostModel::Correction(std::size_t k, double size) const { return Corrections(size)[k]; }

double CostModel::Predict(double size) const {
  const std::vector<double> corrections = Corrections(size);
  double sum = 0;
  for (std::size_t k = 0; k < curves_.size(); ++k) {
    sum += curves_[k].probability * corrections[k] * Curve(k, size);
  }
  return sum;
}

}  // namespace tidemark::regression
