// What a key group costs: a posterior over curves, with the local evidence where there is some.
//
//   P_c:  g(x) = a + b x^c             c = 0.3, 0.4, ..., 5.0
//   L_c:  g(x) = a + l y + b x^c       c = 1.5, 1.6, ..., 5.0; from 0.8 where y is not x
//   a, l, b >= 0, by weighted least squares of relative errors over bins of like sizes
//
// A curve's probability follows from how well it fits, a mild prior on c and a price for the third
// term. Each curve is then corrected where key groups were seen: f(x) = rho(x) (g(x) + e) - e, with
// rho the kernel mean of observed over fitted times, which goes to 1 away from the data; e, a
// ten-thousandth of the largest, is added to both, so that next to nothing has a ratio. So a
// prediction is the local mean among like sizes and the anchored curve beyond them, without a
// switch between two.
//
// Source: docs/references.md [TM]. Cost of Fit: O(curves x bins). Pure value, immutable, safe to
// share.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tidemark::regression {

// Finished key groups of about one size.
struct CostBin {
  double size = 0;               // mean, bytes (or what else the cost is a function of); > 0
  double count = 0;              // may be a fraction, for evidence that has aged
  double amount = 0;             // mean of what is explained: seconds, or bytes emitted
  double relative_variance = 0;  // of one key group around the mean
  double bytes = 0;              // y, mean; 0: the same as the size
};

struct CostCurve {
  double a = 0;
  double l = 0;
  double b = 0;  // of (x / CostModel::scale())^c
  double c = 1;
  double probability = 0;
};

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
  void TakeResiduals(std::vector<double> evidence, std::vector<double> within);

  std::vector<CostBin> bins_;
  std::vector<double> log_sizes_;  // of the bins, to base 2
  std::vector<CostCurve> curves_;
  std::vector<std::vector<double>> ratios_;  // of each curve: observed over fitted, by bin
  double scale_ = 1;
  double bytes_scale_ = 1;
  double negligible_ = 0;  // e
  double score_ = 0;
  double spread_per_octave_ = 0.08;
  std::vector<double> noise_;  // relative variance of one key group, by bin
};

}  // namespace tidemark::regression
