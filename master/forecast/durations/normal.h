// The distributions that estimates draw from, and numbers drawn once and for all.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tidemark::cost {

// So many standard deviations on both sides of the mean hold 90 % of a normal distribution.
inline constexpr double kDeviationsOf90Percent = 1.645;

// Guards exp(): no logarithm of seconds, or of a ratio of times, is beyond this (300,000 years).
inline constexpr double kLogMax = 30;
// More standard deviations than this are no chance: 0.3 % of a normal distribution.
// Ablation: -2.43, +7.58 (join smooth-bend, bend).
inline constexpr double kContradiction = 3;
// Whether two opinions that are `off` from each other cannot both be right, by the variance of
// their difference.
inline bool Contradict(double off, double variance) {
  return !(off * off <= kContradiction * kContradiction * variance);
}

inline double NormalCdf(double z) { return 0.5 * std::erfc(-z * M_SQRT1_2); }

// Inverse of NormalCdf() by Acklam's rational approximation: relative error below 1.2e-9.
double NormalQuantile(double probability);

// Student's t distribution with four degrees of freedom: like the normal one in the middle, with
// tails in which being off by much makes being off by a little more likely, not by as much again.
double Student4Cdf(double t);
// Its inverse, in closed form.
double Student4Quantile(double probability);
// The same between points of a table: an eighth of the time, relative error below 2e-4.
double QuickStudent4Quantile(double probability);

// The quantile at `u` of what is left of a time T once `passed` of it is over. ln T is normal; of
// one that has outlasted all expectation, ParetoLeft() is left.
double LogNormalLeft(double log_median, double deviation, double passed, double u);
// The same of a time that has outlasted all expectation: so much of its distribution lies below
// what has passed that a quantile of the rest is no number any more. By a tail of index 4, half of
// such tasks end within 1.2 of what they have run. Ablation: -0.39 and +0.08 on TPC-DS without
// history.
double ParetoLeft(double passed, double u);
inline bool HasOutlasted(double probability_below) { return probability_below > 1 - 1e-9; }

// The quantile at `u` of what is left of something that is late by `late`, or has been waited for
// so long, where nothing tells the scale of times: as likely more than `late` as less, as Laplace's
// rule of succession and the lifetimes of processes have it (Harchol-Balter and Downey, 1997).
inline double LateLeft(double late, double u) { return std::max(late, 0.0) * (1 / (1 - u) - 1); }

// A number in (0, 1) that depends on nothing but `index`: the same at every update, so that two
// estimates differ by what is known and not by luck.
inline double FixedUniform(std::uint64_t index) {
  std::uint64_t x = (index + 1) * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  x ^= x >> 31;
  return (static_cast<double>(x >> 11) + 0.5) * 0x1.0p-53;
}

}  // namespace tidemark::cost
