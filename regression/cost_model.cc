#include "regression/cost_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tidemark::regression {
namespace {

// Relative variance of a key group if there is no evidence.
// Ablation: -0.03, -0.33 (join lost-10).
constexpr double kPriorVariance = 0.09;
// Width of the noise kernel, in octaves. Sizes within this distance have similar noise.
// Ablation: +0.69, -0.48 (two-path bend).
constexpr double kNoiseOctaves = 1.5;
// Limits the evidence of one bin. Without this limit, the suite n^1-1.8 has an avgErr of 0.51 and a
// maxErr of 3.9 instead of 0.28 and 2.1. Ablation: +0.25, -0.17 (two-path bend).
constexpr double kNoiseEvidenceMax = 20;
// Limits the variance that one bin contributes to the mean over all bins.
// Ablation: -0.72, +1.22 (join lost-10).
constexpr double kVarianceForOthersMax = 1;
constexpr std::size_t kCoefficients = 3;

// Returns the squared relative distance of each bin from the best curve through all bins, scaled to
// the variance of one key group. Returns infinite distances if there are too few bins for a test.
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
  // The mean is weighted by amount, so that many small key groups do not dominate.
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

namespace {

// Limits the relative error per octave beyond the data.
// Ablation: -2.49, +0.40 (join lost-10).
constexpr double kSpreadPerOctaveMax = 0.2;
// Amounts below this fraction of the largest amount are negligible, and so are the relative errors
// of their predictions. Ablation: -0.21, +0.37 (join lost-10).
constexpr double kNegligible = 1e-4;
// Width in octaves of the kernel that averages ratios. Ablation: +0.79 (two-path speculation),
// +1.18 (join lost-10).
constexpr double kKernelOctaves = 0.35;
// Weight of a curve, as a prior, against the observed means. Ablation: -0.22 (two-path
// hidden-modes), +1.09 (join lost-10).
constexpr double kPullPrior = 1 / (0.15 * 0.15);
// The smallest relative error of an observed mean. With 0.03, a join of zipf-1.5 has a maxErr of
// 7.7 instead of 2.6.
// Ablation: +0.02, -0.57 (join lost-10).
constexpr double kObservedErrorMin = 0.02;

double Kernel(double octaves) {
  const double d = octaves / kKernelOctaves;
  const double base = 1 + d * d;
  return 1 / (base * base);
}

double Corrected(const CostCorrection& correction, double fitted) {
  return std::max(0.0, correction.factor * fitted + correction.shift);
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
  CurveData data;
  model.negligible_ = largest > 0 ? kNegligible * largest : 1e-12;

  model.bins_ = std::move(bins);
  model.scale_ = model.bins_.back().size;
  for (CostBin& bin : model.bins_) {
    if (!(bin.bytes > 0)) bin.bytes = bin.size;
    model.bytes_scale_ = std::max(model.bytes_scale_, bin.bytes);
    model.log_sizes_.push_back(std::log2(bin.size));
  }
  for (const CostBin& bin : model.bins_) {
    data.x.push_back(bin.size / model.scale_);
    data.y.push_back(bin.bytes / model.bytes_scale_);
    data.log_x.push_back(std::log(data.x.back()));
    data.amount.push_back(bin.amount);
    data.unit.push_back(bin.amount + model.negligible_);
  }
  CostNoise noise = NoiseWithin(model.bins_);
  AddResiduals(data, model.bins_, noise);
  const std::vector<double> first_guess = SmoothVariance(model.bins_, model.log_sizes_, noise);
  for (std::size_t b = 0; b < model.bins_.size(); ++b) {
    const CostBin& bin = model.bins_[b];
    const double own = noise.evidence[b];
    const double variance =
        (own * noise.variance[b] + kPriorWeight * first_guess[b]) / (own + kPriorWeight);
    data.error.push_back(variance / bin.count + kBinVarianceMin);
    data.base.push_back(1 / data.error.back());
  }
  const BandwidthChoice choice = ChooseBandwidths(data);
  const auto& shares = choice.shares;
  if (choice.error) {
    model.score_ = choice.error->mean;
    model.spread_per_octave_ = std::min(std::sqrt(choice.error->nearest), kSpreadPerOctaveMax);
  }
  for (std::size_t h = 0; h < kBandwidths.size(); ++h) {
    if (shares[h] < kProbabilityMin) continue;
    const std::vector<double> weight = BandwidthWeights(data, kBandwidths[h], data.x.size() - 1);
    const std::vector<FittedCurve> first = FitCurves(data, weight);
    const std::vector<FittedCurve> fits =
        FitCurves(data, RobustWeights(data, weight, BestOf(first).curve));
    AddPosterior(fits, model.bins_.size(), shares[h], model.curves_);
  }
  KeepLikely(model.curves_);
  // If squares of huge amounts overflow, no curve fits.
  if (model.curves_.empty()) return CostModel();
  model.UpdateNoise(std::move(noise));
  return model;
}

// Adds the residuals of the curves to the noise. A bin with one key group has no spread, so only
// its distance from a curve counts.
void CostModel::UpdateNoise(CostNoise noise) {
  for (std::size_t b = 0; b < bins_.size(); ++b) {
    const double fitted = Curve(0, bins_[b].size, bins_[b].bytes);
    const double off = (bins_[b].amount - fitted) / (fitted + negligible_);
    AddResidual(off * off, b, noise);
  }
  noise_ = SmoothVariance(bins_, log_sizes_, noise);
  double amount = 0;
  double unexplained = 0;
  for (std::size_t b = 0; b < bins_.size(); ++b) {
    amount += bins_[b].amount * bins_[b].count;
    unexplained += bins_[b].amount * bins_[b].count * std::min(noise.variance[b], kSquaredErrorMax);
  }
  if (amount > 0) score_ += unexplained / amount;
  for (std::size_t k = 0; k < curves_.size(); ++k) {
    std::vector<double>& ratios = ratios_.emplace_back();
    for (const CostBin& bin : bins_) {
      ratios.push_back((bin.amount + negligible_) / (Curve(k, bin.size, bin.bytes) + negligible_));
    }
  }
  AddBackSmoothingLoss();
  MatchTotals();
}

// Adds the residuals of the kernel mean to the ratios (Tukey's twicing).
void CostModel::AddBackSmoothingLoss() {
  std::vector<std::vector<double>> twiced = ratios_;
  for (std::size_t b = 0; b < bins_.size(); ++b) {
    const std::vector<CostCorrection> smoothed = Corrections(bins_[b].size);
    for (std::size_t k = 0; k < curves_.size(); ++k) {
      twiced[k][b] += ratios_[k][b] - smoothed[k].factor;
    }
  }
  ratios_ = std::move(twiced);
}

// Scales each curve so that its predictions for the finished key groups sum to their total time.
// This is necessary since a mean of ratios differs from the ratio of sums.
void CostModel::MatchTotals() {
  double observed = 0;
  std::vector<double> predicted(curves_.size(), 0);
  for (std::size_t b = 0; b < bins_.size(); ++b) {
    const CostBin& bin = bins_[b];
    const double weight = Evidence(b) * bin.count;
    observed += weight * (bin.amount + negligible_);
    const std::vector<CostCorrection> corrections = Corrections(bin.size);
    for (std::size_t k = 0; k < curves_.size(); ++k) {
      const double amount = Corrected(corrections[k], Curve(k, bin.size, bin.bytes));
      predicted[k] += weight * (amount + negligible_);
    }
  }
  for (std::size_t k = 0; k < curves_.size(); ++k) {
    const double match = observed / predicted[k];
    if (!std::isfinite(match)) continue;  // the sum of amounts overflowed
    for (double& ratio : ratios_[k]) ratio *= match;
  }
}

double CostModel::Evidence(std::size_t b) const {
  return 1 / (noise_[b] / bins_[b].count + kObservedErrorMin * kObservedErrorMin);
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
    const double w = kernel * Evidence(b);
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
  std::vector<std::pair<double, double>> predictions;  // pairs of prediction and probability
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
