#include "regression/fit_bandwidths.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "regression/cost_noise.h"
#include "regression/curve_posterior.h"

namespace tidemark::regression {
namespace {

// What is held out, in octaves below the largest size.
constexpr std::array<double, 3> kHeldOut = {1, 2.2, 4.5};
// How soon errors rule a bandwidth out.
// Ablation: +0.85, +0.57 (join lost-10).
constexpr double kEvidencePower = 3;
// What a bandwidth counts before that: the wider, the more it has seen.
constexpr std::array<double, kBandwidths.size()> kBandwidthPrior = {0.1, 0.2, 0.3, 0.4};
// Every second exponent does, but whole ones, the likeliest, must be among them.
constexpr ExponentGrid kHeldOutExponents = {.min = 0.4, .step = 0.2};

// Empty when there is too little to tell.
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
    // The mean over the curves: to be undecided counts as much as to be wrong.
    for (std::size_t i = kept; i < data.x.size(); ++i) {
      double squared = 0;
      for (const CostCurve& curve : curves) {
        const double off =
            std::log(std::max(Evaluate(curve, data.x[i], data.y[i]), 1e-300) / data.unit[i]);
        squared += curve.probability * std::min(off * off, kSquaredErrorMax);
      }
      // Noise is no error of the fit.
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
    errors[f].mean += kBinVarianceMin;  // does not count against it
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
