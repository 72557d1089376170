// Included only by the copies of the sources in which bench/ablation.py makes constants changeable.
// No shipped program includes it.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <type_traits>

namespace tidemark {

// Returns `value`, or its half or double if the environment contains TIDEMARK_ABLATED=NAME and
// TIDEMARK_FACTOR=0.5 or 2. Integers stay at least 1.
template <typename T>
T Ablated(const char* name, T value) {
  const char* wanted = std::getenv("TIDEMARK_ABLATED");
  if (wanted == nullptr || std::string_view(wanted) != name) return value;
  const double factor = std::strtod(std::getenv("TIDEMARK_FACTOR"), nullptr);
  if constexpr (std::is_integral_v<T>) {
    return factor > 1 ? static_cast<T>(value * 2) : static_cast<T>((value + 1) / 2);
  } else {
    return value * factor;
  }
}

}  // namespace tidemark
