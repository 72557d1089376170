// Fits the curve a + b x^c to the times of key groups.
//
//   minimise  sum_p (t_p - (a + b x_p^c))^2   over merged points p       [NF] 3.5, eq. 8
//   subject to  a >= 0, b >= 0, 0.05 <= c <= 5.3
//
// x_p is the size of a point in bytes, and t_p its mean time in seconds. Each merged point has
// weight 1, as in the paper. Quality is R^2 on the same points. The best a and b for an exponent
// have a closed form, so Ceres searches only for the exponent. It starts from the best exponent of
// a grid (ADR 6). First, x is scaled by its geometric mean and t by its arithmetic mean.
#pragma once

#include <cstdint>
#include <span>

#include "tidemark/event.h"

namespace tidemark::regression {

enum class FitQuality : std::uint8_t {  // ordered from worse to better
  kNone,     // fewer than four distinct sizes, since a curve can pass through that many points
  kFew,      // fewer distinct sizes than PowerLawOptions::points_min
  kRegular,  // enough sizes for R^2
};

struct PowerLawOptions {
  int points_min = 10;  // with fewer distinct sizes, the quality is kFew
  double exponent_min = 0.05;
  double exponent_max = 5.3;
};

struct PowerLawFit {
  FitQuality quality = FitQuality::kNone;
  double a_seconds = 0;
  double b = 0;  // seconds per byte^c
  double c = 1;
  double r_squared = 0;          // 1 - SS_res / SS_tot, or 1 if both are 0
  double relative_residual = 0;  // root mean square of (t - fit) / fit, with points weighted by fit
  double size_bytes_max = 0;     // largest fitted size

  // Returns a + b x^c, finite and at least 0.
  double Predict(double size_bytes) const;
};

// Fits the curve. Ignores points with NaN, infinite or negative times. Takes tens of iterations of
// O(points). If there are more than 8,192 points, uses 8,192 of them, evenly spaced by rank of size
// and including both ends.
PowerLawFit FitPowerLaw(std::span<const GroupPoint> points, const PowerLawOptions& options = {});

}  // namespace tidemark::regression
