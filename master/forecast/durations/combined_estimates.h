// Estimates one time from several sources. ReadShare uses the pace of a running task, Combine()
// combines two estimates, and LogLine fits a line over sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "master/forecast/durations/draws.h"
#include "master/forecast/durations/task_times.h"

namespace tidemark::durations {

// The time of a running task, estimated from the pace at which it reads its input.
//
// A task that has read a share f of its input after r seconds takes about
//
//   r / (f s)
//
// seconds in total. The read share s is the share of their time that finished tasks of the same
// stage spent reading their input. A task that commits, cleans up, or computes after its last byte
// has a share below one.

// The total time of a running task, predicted from its pace.
struct PacedTotal {
  double seconds = 0;
  double deviation = 0;  // deviation of ln(seconds)
};

// The read share of a stage, computed from its finished tasks.
class ReadShare {
 public:
  // Adds a finished task that took `seconds` and had read its input after `read_for` seconds.
  // Ignores invalid times.
  void Add(double read_for, double seconds);
  // Returns the total time of a task that has read `fraction` of its input after `read_for`
  // seconds. REQUIRES: both are positive.
  PacedTotal TotalOf(double read_for, double fraction) const;

 private:
  double count_ = 0;
  double logs_ = 0;     // sum of ln s
  double squares_ = 0;  // sum of (ln s)^2
};

// Combination of estimates of one time, by draw, from several sources: key groups, task sizes, past
// runs, the map phase.

// Standard deviation of ln(duration) between two executions of the same work, such as two attempts,
// two runs, or two halves of a task. Ablation: -0.65, +3.44 (join smooth-bend).
inline constexpr double kRepeatDeviation = 0.3;
// Standard deviation of ln(duration) if almost nothing is known: a factor of e in either direction.
// Ablation: -0.12, +2.40 (tpcds-live-no-history).
inline constexpr double kUnknownDeviation = 1;
// A prior counts as much as this many observed keys, tasks or runs.
// Ablation: +0.23, -0.32 (tpcds-five-runs).
inline constexpr double kPriorCount = 3;

// The source of an estimate. Each source has its own stream of random numbers.
enum class EstimateSource : std::uint64_t { kPastRuns = 0, kMapSide, kBytesRead, kOtherJobs };

// Returns log-normal draws from the stream of `source`.
Draws LogNormal(double log_median, double deviation, EstimateSource source,
                const FixedDraws& draws);

// Combines two independent estimates. In each draw, their logarithms are weighted by precision, so
// that the result scatters like the product of two normal densities. If the two estimates
// contradict each other (kContradiction), `other` counts by `weight_in_doubt`, 0..1. Returns `own`
// if either estimate is zero or has no spread. REQUIRES: both have the same number of draws.
Draws Combine(const Draws& own, const Draws& other, double weight_in_doubt = 0);

// Combines an estimate with another one that is always available. The logarithm of `own` has the
// deviation s. If s exceeds kUnknownDeviation, `other` has the weight 1 - (kUnknownDeviation /
// s)^2. Otherwise, or if either estimate is zero or has no spread, returns `own`.
// REQUIRES: both have the same number of draws.
Draws CombineIfVague(const Draws& own, const Draws& other);

// Returns the remaining time of a task that has run for `elapsed` seconds, by draw. `totals` is the
// total time of the task from all other evidence, by draw, and positive. `paced` is the total time
// from the task's own pace, weighted by its precision. `u` contains numbers in (0, 1), by draw.
// REQUIRES: elapsed and paced.seconds are positive, and `u` has as many draws as `totals`.
Draws LeftByPace(const Draws& totals, double elapsed, const PacedTotal& paced, const Draws& u);

// Estimates the logarithm of a time as a line over the logarithm of a size, from a few
// observations. The fit is least squares with a normal prior on the slope and a prior on the
// scatter. The result is the predictive distribution of one more time.
//
// Not thread-safe. Each estimate takes O(observations) time.
class LogLine {
 public:
  // `scatter` is the prior deviation of ln(time) around the line, which counts as kPriorCount
  // observations. `slope` and `slope_deviation` are the prior of the slope.
  LogLine(double scatter, double slope, double slope_deviation)
      : scatter_(scatter), slope_(slope), slope_deviation_(slope_deviation) {}

  // Adds an observation. `size` is positive, or empty if unknown. `seconds` is positive.
  void Add(std::optional<double> size, double seconds);
  bool empty() const { return pairs_.empty(); }

  // An estimate of ln(seconds).
  struct Estimate {
    double log = 0;
    double deviation = 0;
    double slope = 0;
  };
  // Returns the estimate for `size`. Observations without a size change only the level. Returns the
  // mean if `size` or all sizes of the observations are unknown. REQUIRES: !empty().
  Estimate At(std::optional<double> size) const;

 private:
  struct Pair {
    std::optional<double> log_size;
    double log_seconds = 0;
  };
  const double scatter_;
  const double slope_;
  const double slope_deviation_;
  std::vector<Pair> pairs_;
};

}  // namespace tidemark::durations
