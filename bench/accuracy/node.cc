#include "bench/accuracy/node.h"

#include <algorithm>
#include <cmath>

namespace tidemark::bench {
namespace {

// Lower bound of the speed for any noise.
constexpr double kNoiseMin = -0.9;

}  // namespace

Node::Node(const NominalSpeed& nominal, const Noise& noise, std::uint64_t seed)
    : nominal_(nominal), noise_(noise), random_(seed) {}

double Node::SpeedIn(std::size_t step) {
  const double kept = std::exp(-noise_.step_seconds / noise_.correlation_seconds);
  while (noises_.size() <= step) {
    const double fresh = noise_.deviation * random_.Normal();
    noises_.push_back(noises_.empty() ? fresh
                                      : kept * noises_.back() + std::sqrt(1 - kept * kept) * fresh);
  }
  const double begins = static_cast<double>(step) * noise_.step_seconds;
  return nominal_.At(begins) * (1 + std::max(noises_[step], kNoiseMin));
}

double Node::Advance(double start, double work_seconds) {
  double now = start;
  for (auto step = static_cast<std::size_t>(start / noise_.step_seconds);; ++step) {
    const double speed = SpeedIn(step);
    const double step_ends = static_cast<double>(step + 1) * noise_.step_seconds;
    const double possible = (step_ends - now) * speed;
    if (work_seconds <= possible) return now + work_seconds / speed;
    work_seconds -= std::max(possible, 0.0);
    now = step_ends;
  }
}

std::vector<Node> WithoutNoise(const std::vector<NominalSpeed>& speeds, double step_seconds) {
  std::vector<Node> nodes;
  nodes.reserve(speeds.size());
  for (const NominalSpeed& speed : speeds) {
    nodes.emplace_back(speed, Node::Noise{.step_seconds = step_seconds}, 0);
  }
  return nodes;
}

}  // namespace tidemark::bench
