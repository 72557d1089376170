// How far below the largest sizes a curve should look.
//
// No curve is right everywhere, and what matters is how it goes on beyond the data. So curves are
// fitted with several bandwidths h, by weights that fall by a factor of e every h powers of e below
// the largest size X,
//
//   w(x) = w_base (x / X)^(1 / h),
//
// and each bandwidth is judged by its held-out error: by what it would have said of the sizes of
// the last octave, and of the last 2.2 and 4.5, from the others alone. Its share of the posterior
// is
//
//   share_h ~ prior_h (least error / error_h)^3,
//
// the error being the mean square of ln(predicted / seen) over all curves, less what noise
// explains.
//
// Pure functions. Cost of ChooseBandwidths: that of 12 fits with half the exponents.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "regression/curve_family.h"

namespace tidemark::regression {

// In octaves.
inline constexpr std::array<double, 4> kBandwidths = {0.7, 1.5, 3, 8};

// Mean squares of the logarithm of how far a bandwidth would have been off about the largest sizes
// had it not known them.
struct HeldOutError {
  double mean = 0;     // over all sizes that were held out
  double nearest = 0;  // over those of the last octave
};

struct BandwidthChoice {
  std::array<double, kBandwidths.size()> shares{};  // add up to 1
  std::optional<HeldOutError> error;  // of the best; empty where there is too little to tell
};

BandwidthChoice ChooseBandwidths(const CurveData& data);

// Of each bin up to `last`, the largest size that counts.
std::vector<double> BandwidthWeights(const CurveData& data, double bandwidth, std::size_t last);

}  // namespace tidemark::regression
