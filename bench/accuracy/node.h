// A machine of the virtual cluster: how fast it works, and when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bench/accuracy/random.h"

namespace tidemark::bench {

// Seconds of work done in a second, as planned.
struct NominalSpeed {
  double speed = 1;
  double changes_at = std::numeric_limits<double>::infinity();  // seconds from the phase's start
  double speed_after = 1;

  double At(double seconds) const { return seconds < changes_at ? speed : speed_after; }
};

// Its true speed is the nominal one times 1 + noise, the noise a first-order autoregressive process
// that changes in steps. Deterministic: the same questions in any order have the same answers.
class Node {
 public:
  struct Noise {
    double deviation = 0;
    double correlation_seconds = 1;  // after so long, 1 / e of the noise is left
    double step_seconds = 1;
  };
  Node(const NominalSpeed& nominal, const Noise& noise, std::uint64_t seed);

  // When `work_seconds` of work are done that begin at `start` >= 0.
  double Advance(double start, double work_seconds);

 private:
  double SpeedIn(std::size_t step);

  NominalSpeed nominal_;
  Noise noise_;
  Random random_;
  std::vector<double> noises_;  // of the steps so far
};

// One for each slot, without noise.
std::vector<Node> WithoutNoise(const std::vector<NominalSpeed>& speeds, double step_seconds);

}  // namespace tidemark::bench
