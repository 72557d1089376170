// The curve a + b x^c through key-group times.
//
//   minimise  sum_p (t_p - (a + b x_p^c))^2   over merged points p       [NF] 3.5, eq. 8
//   subject to  a >= 0, b >= 0, 0.05 <= c <= 5.3
//
// x_p: size of the point in bytes, t_p: its mean time in seconds, each merged point with weight 1
// (the paper does not weight). Quality is R^2 on the same points. For a given exponent the best a
// and b are known in closed form, so that Ceres searches for the exponent alone, from the best one
// of a grid (ADR 0006); x and t are scaled by their geometric and arithmetic means first.
#pragma once

#include <cstdint>
#include <span>

#include "tidemark/event.h"

namespace tidemark::papers {

enum class FitQuality : std::uint8_t {  // from worse to better
  kNone,     // fewer than four distinct sizes, which any curve of three parameters fits
  kFew,      // fewer distinct sizes than PowerLawOptions::points_min: R^2 says little
  kRegular,  // R^2 can be trusted as far as it goes
};

struct PowerLawOptions {
  int points_min = 10;  // merged points below which quality is kFew
  double exponent_min = 0.05;
  double exponent_max = 5.3;
};

struct PowerLawFit {
  FitQuality quality = FitQuality::kNone;
  double a_seconds = 0;
  double b = 0;  // seconds per byte^c
  double c = 1;
  double r_squared = 0;          // 1 - SS_res / SS_tot; 1 when both are 0; never NaN
  double relative_residual = 0;  // root mean square of (t - fit) / fit, points weighted by fit
  double size_bytes_max = 0;     // the largest size it was fitted on

  // a + b x^c, at least 0, finite.
  double Predict(double size_bytes) const;
};

// Points with NaN, infinite or negative times are left out. O(n) per iteration, tens of iterations.
// More than 8,192 points are thinned to 8,192 evenly by rank of size, both ends kept.
PowerLawFit FitPowerLaw(std::span<const GroupPoint> points, const PowerLawOptions& options = {});

}  // namespace tidemark::papers
