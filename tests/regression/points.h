// Points with known times.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/event.h"

namespace tidemark::regression {

inline GroupPoint PointOf(std::uint64_t size_bytes, double mean_seconds, std::uint64_t count = 1) {
  return {size_bytes, count, absl::Seconds(mean_seconds * static_cast<double>(count))};
}

// Returns one point for each size, on the curve a + b x^c.
inline std::vector<GroupPoint> OnCurve(const std::vector<std::uint64_t>& sizes_bytes, double a,
                                       double b, double c) {
  std::vector<GroupPoint> points;
  for (const std::uint64_t size : sizes_bytes) {
    points.push_back(PointOf(size, a + b * std::pow(static_cast<double>(size), c)));
  }
  return points;
}

inline std::vector<std::uint64_t> Sizes(std::uint64_t from, std::uint64_t step, int count) {
  std::vector<std::uint64_t> sizes;
  for (int i = 0; i < count; ++i) sizes.push_back(from + static_cast<std::uint64_t>(i) * step);
  return sizes;
}

}  // namespace tidemark::regression
