// Quantiles of measurements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace tidemark::bench {

// Returns the value that exceeds the given share of all values, or the largest value if `share` is
// 1. Returns 0 for an empty list.
template <typename Value = double>
Value Quantile(std::vector<Value> values, double share) {
  if (values.empty()) return {};
  const auto at = std::min(static_cast<std::size_t>(share * static_cast<double>(values.size())),
                           values.size() - 1);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

inline double Median(std::vector<double> values) { return Quantile(std::move(values), 0.5); }

}  // namespace tidemark::bench
