// Predicts the cost of a key group: a posterior over curves, corrected by local evidence.
//
// Curves g of the family in curve_family.h are fitted to bins of finished key groups with several
// bandwidths. The probability of a curve follows from its fit. Each curve is then corrected near
// finished key groups:
//
//   f(x) = rho(x) (g(x) + e) - e
//
// rho is the kernel mean of actual over fitted times, which approaches 1 away from the data. The
// constant e is a ten-thousandth of the largest amount. It is added to both, so that negligible
// amounts have a ratio. The loss by smoothing is added back once (Tukey's twicing), and the bins
// then have their total times. An estimate is therefore the local mean among similar sizes, and the
// anchored curve beyond them, without a switch between the two.
//
// Source: references.md [TM]. Cost of Fit: O(curves x bins^2). Pure value, immutable, safe to
// share.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "regression/curve_family.h"

namespace tidemark::regression {

// Finished key groups of similar size.
struct CostBin {
  double size = 0;               // mean bytes, or another feature of the cost; above 0
  double count = 0;              // may be fractional, for evidence that has aged
  double amount = 0;             // mean of the explained quantity: seconds, or emitted bytes
  double relative_variance = 0;  // of one key group around the mean
  double bytes = 0;              // y, mean; 0 if it is the same as the size
};

// --- noise ---
//
// Relative variances v_i of bins i, each with an evidence e_i (in degrees of freedom), are similar
// among similar sizes:
//
//   v(x) = (V + sum_i e_i k_i v_i) / (1 + sum_i e_i k_i),   k_i = exp(-(d_i / 1.5)^2 / 2)
//
// d_i is the distance in octaves, and V the mean over all bins by their amounts. The variance of a
// bin of one key group is its distance from a smooth cost.

// The weight of evidence from other groups, in key groups.
// Ablation: -0.07, +0.83 (join lost-10).
inline constexpr double kPriorWeight = 1;

// By bin: v_i and e_i.
struct CostNoise {
  std::vector<double> variance;
  std::vector<double> evidence;
};

// Returns the noise by the spread within the bins alone.
CostNoise NoiseWithin(const std::vector<CostBin>& bins);

// Adds the distances of bins from a smooth cost: from one of the curves, or, in logarithms, from
// the straight line through a bin's neighbours, whichever is nearer. O(bins^2).
void AddResiduals(const CurveData& data, const std::vector<CostBin>& bins, CostNoise& noise);

// Adds one degree of freedom to a bin, with that squared relative error.
void AddResidual(double squared_error, std::size_t bin, CostNoise& noise);

// Returns v(x) at each bin's size. `log_size`: to base 2. O(bins^2).
std::vector<double> SmoothVariance(const std::vector<CostBin>& bins,
                                   const std::vector<double>& log_size, const CostNoise& noise);

// --- model ---

// The correction of g to f: factor g(x) + shift. A cost is the sum, or 0 if that is negative.
struct CostCorrection {
  double factor = 1;
  double shift = 0;
};

class CostModel {
 public:
  CostModel() = default;
  // `bins`: in ascending order of size. Bins without a count or a finite amount are dropped.
  static CostModel Fit(std::vector<CostBin> bins);

  // A model without bins predicts nothing.
  bool empty() const { return bins_.empty(); }
  std::size_t bin_count() const { return bins_.size(); }
  // Returns the bins of the fit. Fit(bins()) returns the same model.
  std::span<const CostBin> bins() const { return bins_; }
  // Returns the curves in descending order of probability. Their probabilities sum to 1.
  std::span<const CostCurve> curves() const { return curves_; }
  double scale() const { return scale_; }              // of x
  double bytes_scale() const { return bytes_scale_; }  // of y
  double size_max() const { return bins_.empty() ? 0 : bins_.back().size; }
  // Returns the relative variance of one key group of that size around the model.
  double RelativeVariance(double size) const;
  // Returns the distance of a size above the largest finished key group, in octaves; 0 below it.
  double OctavesBeyond(double size) const;
  // Returns the relative uncertainty that all key groups of that size share: the error per octave
  // that the model would have made at the largest sizes without their evidence.
  double Beyond(double size) const { return spread_per_octave_ * OctavesBeyond(size); }

  // Returns the corrections of all curves at one size.
  std::vector<CostCorrection> Corrections(double size) const;
  // Return g and f of curve k.
  double Curve(std::size_t k, double size, double bytes) const;
  double Predict(std::size_t k, double size) const { return Predict(k, size, size); }
  double Predict(std::size_t k, double size, double bytes) const;
  // Return the mean over all curves.
  double Predict(double size) const { return Predict(size, size); }
  double Predict(double size, double bytes) const;
  // Returns the median over all curves. If these differ by factors, the largest dominates the mean.
  double PredictMedian(double size, double bytes) const;
  // Returns the criterion for choosing features: the error that the model would have made at the
  // largest sizes without their evidence, plus the differences of key groups from it, both as mean
  // squares of relative errors.
  double score() const { return score_; }

 private:
  void UpdateNoise(CostNoise noise);
  void AddBackSmoothingLoss();
  void MatchTotals();
  // Returns the weight of the mean of a bin: 1 / its relative variance.
  double Evidence(std::size_t b) const;

  std::vector<CostBin> bins_;
  std::vector<double> log_sizes_;  // of the bins, to base 2
  std::vector<CostCurve> curves_;
  std::vector<std::vector<double>> ratios_;  // by curve: rho at the bins before smoothing
  double scale_ = 1;
  double bytes_scale_ = 1;
  double negligible_ = 0;  // e
  double score_ = 0;
  double spread_per_octave_ = 0.08;
  std::vector<double> noise_;  // relative variance of one key group, by bin
};

}  // namespace tidemark::regression
