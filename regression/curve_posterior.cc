#include "regression/curve_posterior.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tidemark::regression {
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

}  // namespace tidemark::regression
