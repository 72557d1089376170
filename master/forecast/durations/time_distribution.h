// How long the tasks of a stage take, as a distribution to draw from.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "master/forecast/durations/normal.h"

namespace tidemark::cost {

// Of a time, in seconds and square seconds.
struct Moments {
  double mean = 0;
  double variance = 0;
};

// Empty until made by one of the functions: then every time is zero. Seconds; p and u in (0, 1).
class TimeDistribution {
 public:
  TimeDistribution() = default;
  // Measured tasks, in any order; those that are negative or not finite are left out.
  static TimeDistribution Empirical(std::vector<double> seconds);
  // The normal distribution of [BOE] section 6; what is below zero counts as zero. A variance that
  // is negative or not finite counts as zero, and so does such a mean.
  static TimeDistribution Normal(const Moments& moments);

  bool empty() const { return sorted_.empty() && !is_normal_; }
  std::size_t size() const { return sorted_.size(); }
  double mean() const { return moments_.mean; }
  double variance() const { return moments_.variance; }
  double median() const { return Quantile(0.5); }

  // Cost: O(1). Here, since every task that is placed asks for one.
  double Quantile(double p) const {
    if (is_normal_) {
      return std::max(moments_.mean + std::sqrt(moments_.variance) * NormalQuantile(p), 0.0);
    }
    if (sorted_.empty()) return 0;
    const double at = p * static_cast<double>(sorted_.size());
    return sorted_[std::min(static_cast<std::size_t>(at), sorted_.size() - 1)];
  }
  // Whether no known task has taken so long. Cost: O(log tasks).
  bool IsOutlastedBy(double elapsed) const;
  // The quantile at `u` of what a task still takes that has run for `elapsed`. Beyond the longest
  // known task: a Pareto tail, the longer the longer it has run. Cost: O(log tasks).
  double Remaining(double elapsed, double u) const;
  // Times that are all `factor` times as long, factor > 0.
  TimeDistribution Scaled(double factor) const;

 private:
  double Below(double seconds) const;

  std::vector<double> sorted_;
  Moments moments_;
  bool is_normal_ = false;
};

// At most `most` of the values, evenly spaced by rank; all, in their order, if they are no more.
// O(values log values).
std::vector<double> EvenlyChosen(std::vector<double> values, std::size_t most);

}  // namespace tidemark::cost
