// The distributions of the estimates, and the fixed random numbers from which they are drawn.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tidemark::durations {

// Number of standard deviations on each side of the mean that contain 90 % of a normal
// distribution.
inline constexpr double kDeviationsOf90Percent = 1.645;

// Limits the argument of exp(). No logarithm of seconds, or of a ratio of times, exceeds this value
// (300,000 years).
inline constexpr double kLogMax = 30;
// Two estimates contradict each other if they differ by more standard deviations than this. These
// differences are 0.3 % of a normal distribution. Ablation: -2.43, +7.58 (join smooth-bend, bend).
inline constexpr double kContradiction = 3;
// Returns true if two estimates that differ by `off` contradict each other. `variance` is the
// variance of their difference.
inline bool Contradict(double off, double variance) {
  return !(off * off <= kContradiction * kContradiction * variance);
}

inline double NormalCdf(double z) { return 0.5 * std::erfc(-z * M_SQRT1_2); }

// Returns the inverse of NormalCdf(), using Acklam's rational approximation. The relative error is
// below 1.2e-9.
double NormalQuantile(double probability);

// Returns the distribution function of Student's t with four degrees of freedom. It resembles the
// normal distribution in the middle, but has heavier tails.
double Student4Cdf(double t);
// Returns the inverse of Student4Cdf(), in closed form.
double Student4Quantile(double probability);
// Returns Student4Quantile(), interpolated from a table, in an eighth of the time. The relative
// error is below 2e-4.
double QuickStudent4Quantile(double probability);

// Returns the quantile at `u` of the remainder of a log-normal time of which `passed` has elapsed.
// Returns ParetoLeft() if the time has outlasted its distribution.
double LogNormalLeft(double log_median, double deviation, double passed, double u);
// Returns the quantile at `u` of the remainder of a time that has outlasted its distribution
// (HasOutlasted()). The remainder has a Pareto tail of index 4: half of such tasks end within 1.2
// times their elapsed time. Ablation: -0.39 and +0.08 on TPC-DS without history.
double ParetoLeft(double passed, double u);
inline bool HasOutlasted(double probability_below) { return probability_below > 1 - 1e-9; }

// Returns the quantile at `u` of the remainder of a delay that has lasted for `late` seconds, if
// the scale of times is unknown. The remainder exceeds `late` with probability 1/2, by Laplace's
// rule of succession and the lifetimes of processes (Harchol-Balter and Downey, 1997).
inline double LateLeft(double late, double u) { return std::max(late, 0.0) * (1 / (1 - u) - 1); }

// Returns a pseudo-random number in (0, 1) that depends only on `index`. Every update uses the same
// numbers, so that two estimates differ by their evidence and not by chance.
inline double FixedUniform(std::uint64_t index) {
  std::uint64_t x = (index + 1) * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  x ^= x >> 31;
  return (static_cast<double>(x >> 11) + 0.5) * 0x1.0p-53;
}

// The quantity that a stream belongs to. No two quantities share a stream.
enum class Drawn : std::uint64_t {
  kTask = 0,          // the time of a task
  kGroup = 1,         // the time of the running key group of a task
  kOtherAttempt = 2,  // the time of the task's other attempt
  kCurve = 3,         // the cost curve
  kBeyond = 4,        // the error of the curve outside the data
  kStage = 5,         // a factor on all tasks of a stage
  kSource = 6,        // the whole remaining time, by source (EstimateSource)
  kWait = 7,          // a delay of unknown length
  kCommon = 8,        // a factor on all remaining work
  kGrowth = 9,        // future stages
  // a factor on the stages of one kind of work whose past runs had other parameters
  kAdjusted = 10,
  kSample = 11,  // the error of the sample of keys
};
// The stream indexes of sources of task times that have only one stream.
inline constexpr std::uint64_t kOfKeyGroups = 0;
inline constexpr std::uint64_t kOfRun = 0;  // for the whole run
inline constexpr std::uint64_t kOfJobs = 1;
inline constexpr std::uint64_t kOfSizes = 2;

// The random numbers of an estimate. They are the same at every update, so that two estimates
// differ by their evidence and not by chance.
//
// Each unknown quantity (of a task, a stage, a job) has a stream. In `count` draws, the stream has
// one number in each of `count` equally likely intervals, in its own random order (a Latin
// hypercube). Each order is an independent permutation. If the orders were strides through one
// permutation, stages would share orders, and the error of the suite tpcds would vary with the
// number of draws by up to 1.5 points.
//
// Immutable, thread-safe.
class FixedDraws {
 public:
  // Returns more draws for few tasks than for many, since the last end of many tasks varies little.
  static const FixedDraws& For(std::size_t tasks);

  std::size_t count() const { return uniforms_.size(); }

  // Returns one number for each draw, uniform in (0, 1) or normal. O(draws).
  std::vector<double> Uniforms(Drawn what, std::uint64_t index) const;
  std::vector<double> Normals(Drawn what, std::uint64_t index) const;

 private:
  explicit FixedDraws(std::size_t count);
  std::vector<double> Ordered(const std::vector<double>& values, std::uint64_t stream) const;
  std::vector<double> uniforms_;  // in ascending order
  std::vector<double> normals_;
};

// Within one draw, many similar tasks take consecutive numbers of a row. RowNumber() returns the
// n-th number, in (0, 1), of the row that begins at RowStart(), in [0, 1). Consecutive numbers are
// golden-ratio steps apart. Any sequence of them covers the interval evenly, so totals of many
// tasks hardly scatter.
inline double RowStart(std::uint64_t draw, std::uint64_t what) {
  return FixedUniform(draw * 0x100000001b3 + what);
}
inline double RowNumber(double row_start, std::uint64_t n) {
  constexpr double kGoldenStep = 0.6180339887498949;
  const double x = row_start + static_cast<double>(n + 1) * kGoldenStep;
  const double u = x - std::floor(x);
  return u > 0 ? u : 0x1.0p-54;
}

// Returns the p-quantile of the draws, interpolated between two of them, and reorders them.
// REQUIRES: at least one value. O(values).
double QuantileOf(std::vector<double>& values, double p);

}  // namespace tidemark::durations
