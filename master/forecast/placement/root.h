// Finds where a function of one variable is zero.
#pragma once

#include <algorithm>
#include <cmath>

namespace tidemark::placement {

// Returns x from `low` to `high` at which |f(x)| is at most `tolerance`, or the best x of
// `rounds` + 2 calls. If f has the same sign at both bounds, returns the better bound. Uses the
// false position method with the Illinois rule: a bound that is kept twice in a row counts half.
template <class Function>
double RootOf(const Function& f, double low, double high, double tolerance, int rounds) {
  double at_low = f(low);
  double at_high = f(high);
  double best = std::abs(at_low) <= std::abs(at_high) ? low : high;
  double least = std::min(std::abs(at_low), std::abs(at_high));
  if (!(at_low * at_high < 0)) return best;
  const double* kept = nullptr;  // value at the bound that the last round kept
  for (int round = 0; round < rounds && least > tolerance; ++round) {
    const double x = (low * at_high - high * at_low) / (at_high - at_low);
    if (!(x > low && x < high)) break;
    const double at_x = f(x);
    if (std::abs(at_x) < least) {
      best = x;
      least = std::abs(at_x);
    }
    const bool replaces_low = (at_x < 0) == (at_low < 0);
    (replaces_low ? low : high) = x;
    (replaces_low ? at_low : at_high) = at_x;
    double& at_other = replaces_low ? at_high : at_low;
    if (kept == &at_other) at_other /= 2;
    kept = &at_other;
  }
  return best;
}

}  // namespace tidemark::placement
