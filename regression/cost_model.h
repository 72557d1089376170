// Predicts the cost of a key group with a posterior over curves, corrected by local evidence.
//
// Curves g of the family in curve_family.h are fitted to bins of finished key groups with several
// bandwidths. The quality of its fit determines the probability of a curve. Each curve is then
// corrected near finished key groups:
//
//   f(x) = rho(x) (g(x) + e) - e
//
// rho is the kernel mean of actual over fitted times, which approaches 1 away from the data. The
// constant e is a ten-thousandth of the largest amount. The constant is added to both times, so
// that the ratio of negligible amounts is close to 1. The loss from smoothing is added back once
// (Tukey's twicing). Each corrected curve is then scaled to the total time of the bins. Among known
// sizes, an estimate is therefore the local mean. At other sizes, it moves smoothly to the anchored
// curve.
//
// Source: references.md [TM]. Fit() takes O(curves x bins^2) time. The class is immutable and safe
// to share.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "regression/curve_family.h"

namespace tidemark::regression {

// A group of finished key groups of similar size.
struct CostBin {
  double size = 0;    // mean bytes, or another cost feature; above 0
  double count = 0;   // may be fractional, since old evidence counts less
  double amount = 0;  // mean of the explained quantity, which is seconds or emitted bytes
  double relative_variance = 0;  // relative variance of a single key group
  double bytes = 0;              // mean bytes; 0 if equal to the size
};

// --- noise ---
//
// Bin i has a relative variance v_i with the evidence e_i (in degrees of freedom). Variances are
// similar among similar sizes:
//
//   v(x) = (V + sum_i e_i k_i v_i) / (1 + sum_i e_i k_i),   k_i = exp(-(d_i / 1.5)^2 / 2)
//
// d_i is the distance in octaves, and V is the mean over all bins, weighted by amount. If a bin has
// a single key group, its squared distance from a smooth cost is its variance.

// Weight of the evidence from other bins, in key groups.
// Ablation: -0.07, +0.83 (join lost-10).
inline constexpr double kPriorWeight = 1;

// Variance v_i and evidence e_i of each bin.
struct CostNoise {
  std::vector<double> variance;
  std::vector<double> evidence;
};

// Returns the noise according to the spread within each bin.
CostNoise NoiseWithin(const std::vector<CostBin>& bins);

// Adds the squared distance of each bin from a smooth cost to `noise`. A smooth cost is either the
// best curve or, in logarithms, the straight line through the neighbouring bins. The nearer of the
// two is used. O(bins^2).
void AddResiduals(const CurveData& data, const std::vector<CostBin>& bins, CostNoise& noise);

// Adds one degree of freedom to `bin`, with `squared_error` as its squared relative error.
void AddResidual(double squared_error, std::size_t bin, CostNoise& noise);

// Returns v(x) at the size of each bin. `log_size`: base-2 logarithms of the sizes. O(bins^2).
std::vector<double> SmoothVariance(const std::vector<CostBin>& bins,
                                   const std::vector<double>& log_size, const CostNoise& noise);

// --- model ---

// Corrects the curve g at one size: f(x) = max(0, factor g(x) + shift).
struct CostCorrection {
  double factor = 1;
  double shift = 0;
};

class CostModel {
 public:
  CostModel() = default;
  // Fits the model to `bins`, which are in ascending order of size. Drops bins with a count of zero
  // or an amount that is not finite.
  static CostModel Fit(std::vector<CostBin> bins);

  // Returns true if the model has no bins and cannot predict.
  bool empty() const { return bins_.empty(); }
  // Returns the bins of the fit. Fit(bins()) returns the same model.
  std::span<const CostBin> bins() const { return bins_; }
  // Returns the curves in descending order of probability. Their probabilities sum to 1.
  std::span<const CostCurve> curves() const { return curves_; }
  double scale() const { return scale_; }              // largest size: x is size / scale()
  double bytes_scale() const { return bytes_scale_; }  // largest bytes: y is bytes / bytes_scale()
  double size_max() const { return bins_.empty() ? 0 : bins_.back().size; }
  // Returns the relative variance around the model of one key group of size `size`.
  double RelativeVariance(double size) const;
  // Returns by how many octaves `size` exceeds the largest finished key group, at least 0.
  double OctavesBeyond(double size) const;
  // Returns the relative uncertainty that all key groups of size `size` share. It grows per octave
  // by the error with which the smaller sizes predict the largest ones.
  double Beyond(double size) const { return spread_per_octave_ * OctavesBeyond(size); }

  // Returns the corrections of all curves at one size.
  std::vector<CostCorrection> Corrections(double size) const;
  // These functions return g and f of curve k.
  double Curve(std::size_t k, double size, double bytes) const;
  double Predict(std::size_t k, double size) const { return Predict(k, size, size); }
  double Predict(std::size_t k, double size, double bytes) const;
  // These functions return the mean of f over all curves.
  double Predict(double size) const { return Predict(size, size); }
  double Predict(double size, double bytes) const;
  // Returns the median over all curves. If the predictions differ by large factors, the largest
  // prediction would dominate the mean.
  double PredictMedian(double size, double bytes) const;
  // Returns the criterion for the choice of a cost feature, for which lower is better. It is the
  // sum of two mean squared relative errors. The first is that of predictions of the largest sizes
  // from smaller ones, and the second that of key groups around the model.
  double score() const { return score_; }

 private:
  void UpdateNoise(CostNoise noise);
  void AddBackSmoothingLoss();
  void MatchTotals();
  // Returns the weight of the mean of a bin, which is 1 / (relative variance of the mean).
  double Evidence(std::size_t b) const;

  std::vector<CostBin> bins_;
  std::vector<double> log_sizes_;  // base-2 logarithms of the bin sizes
  std::vector<CostCurve> curves_;
  std::vector<std::vector<double>> ratios_;  // rho of each curve at each bin, before smoothing
  double scale_ = 1;
  double bytes_scale_ = 1;
  double negligible_ = 0;  // e
  double score_ = 0;
  double spread_per_octave_ = 0.08;
  std::vector<double> noise_;  // relative variance of one key group, by bin
};

}  // namespace tidemark::regression
