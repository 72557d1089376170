// The numbers that a draw of a workflow's future uses: fixed, so that two estimates differ by what
// is known and not by luck, and spread evenly, so that few draws suffice.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "master/model/tidemark/normal.h"

namespace tidemark::workflow {

// In [0, 1): where draw `draw` begins its row of numbers for `what`.
inline double RowStart(std::uint64_t draw, std::uint64_t what) {
  return model::FixedUniform(draw * 0x100000001b3 + what);
}

// In (0, 1): the n-th number of that row. Consecutive ones are golden-ratio steps apart, so that
// any run of them covers the interval evenly: totals of many tasks hardly scatter.
inline double RowNumber(double row_start, std::uint64_t n) {
  constexpr double kGoldenStep = 0.6180339887498949;
  const double x = row_start + static_cast<double>(n + 1) * kGoldenStep;
  const double u = x - std::floor(x);
  return u > 0 ? u : 0x1.0p-54;
}

// A number spread evenly over the draws: the draw'th of them takes its own part of (0, 1), in an
// order of its own for every `what`. O(draws).
inline double SpreadOverDraws(std::size_t draw, std::size_t draws, std::uint64_t what) {
  const double own = RowStart(draw, what);
  std::size_t part = 0;
  for (std::size_t other = 0; other < draws; ++other) part += RowStart(other, what) < own ? 1 : 0;
  return (static_cast<double>(part) + 0.5) / static_cast<double>(draws);
}

// The p-quantile of values in any order, interpolated between them; at least one. O(n log n).
inline double QuantileOf(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  const double last = static_cast<double>(values.size() - 1);
  const double at = std::clamp(p * static_cast<double>(values.size()) - 0.5, 0.0, last);
  const std::size_t below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

}  // namespace tidemark::workflow
