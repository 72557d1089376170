// How much key groups of one size differ from each other.
//
// Relative variances v_i of bins i, each with an evidence e_i (in degrees of freedom), are alike
// among like sizes:
//
//   v(x) = (V + sum_i e_i k_i v_i) / (1 + sum_i e_i k_i),   k_i = exp(-(d_i / 1.5)^2 / 2)
//
// where d_i is the distance in octaves and V the mean over all bins by the amount that they stand
// for. A bin of one key group has no variance of its own; what it lies off a smooth cost stands for
// one.
//
// Pure functions. Cost: O(bins^2).
#pragma once

#include <vector>

#include "regression/cost_bin.h"
#include "regression/curve_family.h"

namespace tidemark::regression {

// The most that one squared relative error, or a variance of such, may count: beyond e^2 times, or
// three times as much, wrong is wrong.
// Ablation: -0.07, +0.12 (join phase-ab).
inline constexpr double kSquaredErrorMax = 4;
// No bin is known better than this, relative: curves are not exact.
// Ablation: +0.18 (two-path bend), -1.08 (join lost-10).
inline constexpr double kBinErrorMin = 0.03;
inline constexpr double kBinVarianceMin = kBinErrorMin * kBinErrorMin;
// As how many key groups what holds for others counts beside what was seen of these.
// Ablation: -0.07, +0.83 (join lost-10).
inline constexpr double kPriorWeight = 1;

// By bin: v_i and e_i.
struct CostNoise {
  std::vector<double> variance;
  std::vector<double> evidence;
};

// By the spread within the bins alone.
CostNoise NoiseWithin(const std::vector<CostBin>& bins);

// Adds how far bins lie off a smooth cost: either one of the curves, or, in logarithms, the
// straight line through a bin's neighbours, whichever is nearer.
void AddResiduals(const CurveData& data, const std::vector<CostBin>& bins, CostNoise& noise);

// One more degree of freedom for a bin, of that squared relative error.
void AddResidual(double squared_error, std::size_t bin, CostNoise& noise);

// v(x) at each bin's size. `log_size` is to base 2.
std::vector<double> SmoothVariance(const std::vector<CostBin>& bins,
                                   const std::vector<double>& log_size, const CostNoise& noise);

}  // namespace tidemark::regression
