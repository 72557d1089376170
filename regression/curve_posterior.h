// How probable each curve of a family is.
//
// With n bins and chi^2 scaled by its own least value over n - 3 degrees of freedom (when that is
// above 1: then the bins differ from every curve by more than their errors),
//
//   ln p = -(chi^2 - chi^2_min) / (2 max(1, chi^2_min / (n - 3))) + ln prior
//
// The prior of an exponent c is Student's t with three degrees of freedom about 1.3: few costs are
// of a high power, but a few key groups must be able to show one. Whole exponents are likelier,
// exp(-3 d) at a distance d from one, and the third term of L_c costs a factor of n + 2.
//
// Pure functions. Cost: O(curves log curves).
#pragma once

#include <cstddef>
#include <vector>

#include "regression/curve_family.h"

namespace tidemark::regression {

// No curve that is less probable is kept.
// Ablation: -0.23, +0.17 (join lost-10).
inline constexpr double kProbabilityMin = 0.002;

// Adds the curves of one fit over `bins` bins with their probabilities, `share` in all.
void AddPosterior(const std::vector<FittedCurve>& fits, std::size_t bins, double share,
                  std::vector<CostCurve>& all);

// Keeps the most probable ones, which have nearly all of the probability, by falling probability;
// it adds up to 1 again.
void KeepLikely(std::vector<CostCurve>& curves);

}  // namespace tidemark::regression
