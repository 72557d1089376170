// A machine of the virtual cluster and its speed over time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bench/accuracy/random.h"

namespace tidemark::bench {

// Planned seconds of work per second.
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
    double correlation_seconds = 1;  // time after which 1 / e of the noise remains
    double step_seconds = 1;
  };
  Node(const NominalSpeed& nominal, const Noise& noise, std::uint64_t seed);

  // Returns the end of `work_seconds` of work that begin at `start` >= 0.
  double Advance(double start, double work_seconds);

 private:
  double SpeedIn(std::size_t step);

  NominalSpeed nominal_;
  Noise noise_;
  Random random_;
  std::vector<double> noises_;  // one per past step
};

// Returns one node per slot, without noise.
std::vector<Node> WithoutNoise(const std::vector<NominalSpeed>& speeds, double step_seconds);

}  // namespace tidemark::bench
