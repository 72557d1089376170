// What the cost of a key group may depend on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "streaming/size_histogram.h"

namespace tidemark::cost {

enum class CostFeature : std::uint8_t {
  kBytes,    // its size
  kProduct,  // the bytes that came from one input times those from the others, as in a join
  kValues,   // its records
};
inline constexpr std::size_t kCostFeatures = 3;

// Resolution: one value counts as so many bytes, since bins of sizes tell integers from 9 on apart
// as finely as they can.
inline constexpr double kResolutionOfValues = 16;

// What is known of a key beside its size.
struct KeyTraits {
  double first_input_share = 0;  // model::KeyDistribution::FirstInputShare
  double values_per_byte = 0;    // model::KeyDistribution::ValuesPerByte
};

// The feature's value of a key group of so many bytes; >= 1.
inline double FeatureOf(CostFeature feature, double bytes, const KeyTraits& key) {
  switch (feature) {
    case CostFeature::kBytes:
      break;
    case CostFeature::kProduct:
      return 1 + bytes * bytes * key.first_input_share * (1 - key.first_input_share);
    case CostFeature::kValues:
      return std::max(1.0, kResolutionOfValues * bytes * key.values_per_byte);
  }
  return std::max(1.0, bytes);
}

// Bins of a feature are those of sizes.
inline std::uint32_t FeatureBin(double value) {
  return streaming::SizeBin(static_cast<std::uint64_t>(std::clamp(value, 0.0, 9e18)));
}

}  // namespace tidemark::cost
