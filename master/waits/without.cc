#include "master/waits/without.h"

#include <algorithm>

namespace tidemark::blame {

std::vector<Limits> LimitsOf(std::span<const Neighbour> neighbours) {
  std::vector<Limits> limits;
  double all = 0;
  for (const Neighbour& neighbour : neighbours) {
    limits.push_back({.lower = 0, .upper = std::max(neighbour.seconds, neighbour.beside_seconds)});
    all += limits.back().upper;
  }
  for (std::size_t n = 0; n < neighbours.size(); ++n) {
    const double beside_others = std::max(0.0, all - limits[n].upper);
    limits[n].lower = std::max(0.0, neighbours[n].seconds - beside_others);
  }
  return limits;
}

}  // namespace tidemark::blame
