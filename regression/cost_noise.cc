#include "regression/cost_noise.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tidemark::regression {
namespace {

// Relative variance of a key group before any was seen.
// Ablation: -0.03, -0.33 (join lost-10).
constexpr double kPriorVariance = 0.09;
// Noise is alike among sizes that are this many octaves apart.
// Ablation: +0.69, -0.48 (two-path bend).
constexpr double kNoiseOctaves = 1.5;
// Of one bin. Without it n^1-1.8 had 0.51 / 3.9 instead of 0.28 / 2.1.
// Ablation: +0.25, -0.17 (two-path bend).
constexpr double kNoiseEvidenceMax = 20;
// A bin that is unlike all others must not speak for them.
// Ablation: -0.72, +1.22 (join lost-10).
constexpr double kVarianceForOthersMax = 1;
constexpr std::size_t kCoefficients = 3;

// How far every bin is from the curve that is nearest to all of them, as the relative variance of
// one key group; infinite where so few bins are near some curve anyway.
std::vector<double> CurveResiduals(const CurveData& data, const std::vector<CostBin>& bins) {
  std::vector<double> residuals(bins.size(), std::numeric_limits<double>::infinity());
  if (bins.size() <= kCoefficients) return residuals;
  const CostCurve best = BestOf(FitCurves(data, std::vector<double>(bins.size(), 1.0))).curve;
  const auto count = static_cast<double>(bins.size());
  for (std::size_t b = 0; b < bins.size(); ++b) {
    const double off = (Evaluate(best, data.x[b], data.y[b]) - data.amount[b]) / data.unit[b];
    residuals[b] = off * off * bins[b].count * count / (count - kCoefficients);
  }
  return residuals;
}

}  // namespace

CostNoise NoiseWithin(const std::vector<CostBin>& bins) {
  CostNoise noise;
  for (const CostBin& bin : bins) {
    noise.evidence.push_back(std::clamp(bin.count - 1, 0.0, kNoiseEvidenceMax));
    noise.variance.push_back(std::min(bin.relative_variance, kSquaredErrorMax));
  }
  return noise;
}

void AddResidual(double squared_error, std::size_t bin, CostNoise& noise) {
  double& evidence = noise.evidence[bin];
  double& variance = noise.variance[bin];
  const double total = evidence * variance + std::min(squared_error, kSquaredErrorMax);
  evidence += 1;
  variance = total / evidence;
}

void AddResiduals(const CurveData& data, const std::vector<CostBin>& bins, CostNoise& noise) {
  const std::vector<double> from_curve = CurveResiduals(data, bins);
  for (std::size_t b = 1; b + 1 < bins.size(); ++b) {
    const CostBin& below = bins[b - 1];
    const CostBin& above = bins[b + 1];
    if (!(below.amount > 0) || !(bins[b].amount > 0) || !(above.amount > 0)) continue;
    const double w = std::log(bins[b].size / below.size) / std::log(above.size / below.size);
    const double off =
        std::log(bins[b].amount / below.amount) - w * std::log(above.amount / below.amount);
    const double groups = 1 / bins[b].count + w * w / above.count + (1 - w) * (1 - w) / below.count;
    AddResidual(std::min(off * off / groups, from_curve[b]), b, noise);
  }
}

std::vector<double> SmoothVariance(const std::vector<CostBin>& bins,
                                   const std::vector<double>& log_size, const CostNoise& noise) {
  const auto& [variance, evidence] = noise;
  // What the amounts depend on counts, not the many small key groups that make little difference.
  double mean = 0;
  double amount = 0;
  double all = 0;
  for (std::size_t b = 0; b < bins.size(); ++b) {
    const double share = evidence[b] > 0 ? bins[b].amount * bins[b].count : 0;
    mean += share * std::min(variance[b], kVarianceForOthersMax);
    amount += share;
    all += evidence[b];
  }
  double of_all = kPriorWeight * kPriorVariance;
  if (amount > 0) of_all += all * mean / amount;
  of_all /= kPriorWeight + (amount > 0 ? all : 0);
  std::vector<double> smooth;
  for (std::size_t at = 0; at < bins.size(); ++at) {
    double sum = kPriorWeight * of_all;
    double weight = kPriorWeight;
    for (std::size_t b = 0; b < bins.size(); ++b) {
      const double d = (log_size[b] - log_size[at]) / kNoiseOctaves;
      const double w = evidence[b] * std::exp(-0.5 * d * d);
      sum += w * variance[b];
      weight += w;
    }
    smooth.push_back(sum / weight);
  }
  return smooth;
}

}  // namespace tidemark::regression
