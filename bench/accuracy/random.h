// Random numbers whose bits are the same everywhere. Standard distributions differ between
// libraries.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace tidemark::bench {

// Spreads adjacent numbers over all 64 bits, with the 64-bit finalizer of MurmurHash3.
inline std::uint64_t Scatter(std::uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccd;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53;
  return x ^ (x >> 33);
}

// Generates numbers from a seed (SplitMix64). A number takes O(1) time, and the state takes eight
// bytes.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next() { return Scatter(state_ += 0x9e3779b97f4a7c15); }
  // Returns a number above 0 and below 1.
  double Uniform() { return (static_cast<double>(Next() >> 11) + 0.5) * 0x1p-53; }
  // Returns a number with mean 0 and standard deviation 1 (Box and Muller).
  double Normal() {
    const double radius = std::sqrt(-2 * std::log(Uniform()));
    return radius * std::cos(2 * std::numbers::pi * Uniform());
  }

 private:
  std::uint64_t state_;
};

}  // namespace tidemark::bench
