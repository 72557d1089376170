// What a key group costs: a posterior over curves, with the local evidence where there is some.
//
// Curves g of the family in curve_family.h are fitted to bins of finished key groups with several
// bandwidths (fit_bandwidths.h).
//
// A curve's probability follows from how well it fits (curve_posterior.h). Each curve is then
// corrected where key groups were seen: f(x) = rho(x) (g(x) + e) - e, with rho the kernel mean of
// observed over fitted times, which goes to 1 away from the data; e, a ten-thousandth of the
// largest, is added to both, so that next to nothing has a ratio. What the mean smooths away is
// given back once (Tukey's twicing), and the bins take in all what they took. So a prediction is
// the local mean among like sizes and the anchored curve beyond them, without a switch between two.
//
// Source: docs/references.md [TM]. Cost of Fit: O(curves x bins^2). Pure value, immutable, safe to
// share.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "regression/cost_bin.h"
#include "regression/cost_noise.h"
#include "regression/curve_family.h"

namespace tidemark::regression {

// What makes f of g: factor g(x) + shift. The sum is no less than 0 where it counts as a cost.
struct CostCorrection {
  double factor = 1;
  double shift = 0;
};

class CostModel {
 public:
  CostModel() = default;
  // Bins by increasing size; those of no count or no finite amount are left out.
  static CostModel Fit(std::vector<CostBin> bins);

  // Without any bin there is nothing to predict from.
  bool empty() const { return bins_.empty(); }
  std::size_t bin_count() const { return bins_.size(); }
  // What it was fitted to; the same fit follows from them again.
  std::span<const CostBin> bins() const { return bins_; }
  // By falling probability; they add up to 1.
  std::span<const CostCurve> curves() const { return curves_; }
  double scale() const { return scale_; }              // of x
  double bytes_scale() const { return bytes_scale_; }  // of y
  double size_max() const { return bins_.empty() ? 0 : bins_.back().size; }
  // Relative variance of one key group of that size around the model.
  double RelativeVariance(double size) const;
  // How far beyond the largest finished key group a size lies, in octaves; 0 within.
  double OctavesBeyond(double size) const;
  // Relative uncertainty at such a size that all key groups there share: by what the model would
  // have been off, an octave, about the largest sizes had it not known them.
  double Beyond(double size) const { return spread_per_octave_ * OctavesBeyond(size); }

  // Of every curve at one size.
  std::vector<CostCorrection> Corrections(double size) const;
  // f of curve k, without and with its correction.
  double Curve(std::size_t k, double size, double bytes) const;
  double Predict(std::size_t k, double size) const { return Predict(k, size, size); }
  double Predict(std::size_t k, double size, double bytes) const;
  // Mean over all curves.
  double Predict(double size) const { return Predict(size, size); }
  double Predict(double size, double bytes) const;
  // Median over all curves: where they differ by factors, the mean is that of the largest.
  double PredictMedian(double size, double bytes) const;
  // How far the model would have been off about the largest sizes had it not known them, and how
  // much key groups differ from it, both as mean squares of relative errors: what features are
  // chosen by.
  double score() const { return score_; }

 private:
  void TakeResiduals(CostNoise noise);
  void GiveBackWhatIsSmoothedAway();
  void MatchTotals();
  // How much the mean of a bin tells: 1 / its relative variance.
  double Evidence(std::size_t b) const;

  std::vector<CostBin> bins_;
  std::vector<double> log_sizes_;  // of the bins, to base 2
  std::vector<CostCurve> curves_;
  std::vector<std::vector<double>> ratios_;  // of each curve: rho at the bins before smoothing
  double scale_ = 1;
  double bytes_scale_ = 1;
  double negligible_ = 0;  // e
  double score_ = 0;
  double spread_per_octave_ = 0.08;
  std::vector<double> noise_;  // relative variance of one key group, by bin
};

}  // namespace tidemark::regression
