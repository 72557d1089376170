#include "master/waits/crowding.h"

#include <algorithm>
#include <cmath>

namespace tidemark::blame {
namespace {

// Executors of Spark tell of their tasks so often: what lies closer together is one observation.
constexpr double kObservationSeconds = 10;
constexpr double kTimesAsLikely = 20;  // taste
// Of the sum of squares: what is no more than that is rounding.
constexpr double kRounding = 1e-9;

}  // namespace

void Crowding::Pass(double for_seconds, double wait_rate, double unit_rate, double crowd) {
  seconds += for_seconds;
  units += unit_rate * for_seconds;
  wait_seconds += wait_rate * for_seconds;
  waits_squared += wait_rate * wait_rate / unit_rate * for_seconds;
  crowds_squared += unit_rate * crowd * crowd * for_seconds;
  waits_by_crowds += wait_rate * crowd * for_seconds;
}

Crowding& Crowding::operator+=(const Crowding& other) {
  seconds += other.seconds;
  units += other.units;
  wait_seconds += other.wait_seconds;
  waits_squared += other.waits_squared;
  crowds_squared += other.crowds_squared;
  waits_by_crowds += other.waits_by_crowds;
  return *this;
}

std::optional<double> ServiceSeconds(const Crowding& crowding) {
  if (!(crowding.units > 0) || !(crowding.crowds_squared > 0)) return std::nullopt;
  const double all = crowding.waits_squared;
  const double service = crowding.waits_by_crowds / crowding.crowds_squared;
  const double by_constant = all - crowding.wait_seconds * crowding.wait_seconds / crowding.units;
  const double by_line = std::max(all - service * crowding.waits_by_crowds, kRounding * all);
  if (!(by_constant > by_line) || !std::isfinite(by_constant) || !(service > 0)) {
    return std::nullopt;
  }
  const double observations = crowding.seconds / kObservationSeconds - 1;
  if (observations * std::log(by_constant / by_line) < 2 * std::log(kTimesAsLikely)) {
    return std::nullopt;
  }
  return service;
}

}  // namespace tidemark::blame
