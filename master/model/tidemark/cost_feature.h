// What the cost of a key group may depend on.
#pragma once

#include <algorithm>
#include <cstdint>

#include "streaming/size_histogram.h"

namespace tidemark::model {

enum class CostFeature : std::uint8_t {
  kBytes,    // its size
  kProduct,  // the bytes that came from one input times those from the others, as in a join
};

// The feature's value of a key group of so many bytes of which `first_input_share` came from the
// first input; >= 1.
inline double FeatureOf(CostFeature feature, double bytes, double first_input_share) {
  if (feature == CostFeature::kBytes) return std::max(1.0, bytes);
  return 1 + bytes * bytes * first_input_share * (1 - first_input_share);
}

// Bins of a feature are those of sizes.
inline std::uint32_t FeatureBin(double value) {
  return streaming::SizeBin(static_cast<std::uint64_t>(std::clamp(value, 0.0, 9e18)));
}

}  // namespace tidemark::model
