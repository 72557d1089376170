// Draws ranks 1..n with probability proportional to rank^-skew, by rejection from the integral of
// x^-skew. A draw takes O(1) time and needs no table.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

namespace tidemark::bench {

class Zipf {
 public:
  // `skew` must be above 0 and not 1.
  Zipf(double skew, std::uint64_t ranks)
      : skew_(skew),
        ranks_(static_cast<double>(ranks)),
        low_(Integral(0.5)),
        high_(Integral(ranks_ + 0.5)) {}

  std::uint64_t operator()(std::mt19937_64& random) {
    while (true) {
      const double u = low_ + (high_ - low_) * (static_cast<double>(random() >> 11) * 0x1p-53);
      const double x = std::pow(1 + u * (1 - skew_), 1 / (1 - skew_));
      const double rank = std::clamp(std::round(x), 1.0, ranks_);
      // The integral over [rank - 1/2, rank + 1/2] exceeds rank^-skew, since the curve is convex.
      // Draws in the excess, at the upper end, are rejected.
      if (u >= Integral(rank + 0.5) - std::pow(rank, -skew_)) {
        return static_cast<std::uint64_t>(rank);
      }
    }
  }

 private:
  double Integral(double x) const { return (std::pow(x, 1 - skew_) - 1) / (1 - skew_); }

  double skew_;
  double ranks_;
  double low_;
  double high_;
};

}  // namespace tidemark::bench
