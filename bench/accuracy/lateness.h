// Compares stated probabilities of lateness with observed frequencies.
//
// At the first update with an interval, deadlines are set at kDeadlines times the remaining time.
// They do not change, so a deadline does not depend on the true end. Each later update until the
// deadline states the probability of missing it. All updates of one run and deadline have a total
// weight of one.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "bench/accuracy/metrics.h"

namespace tidemark::bench {

inline constexpr std::array<double, 9> kDeadlines = {0.5, 0.7, 0.85, 0.95, 1.05, 1.2, 1.5, 2, 3};

// Predictions whose probability lies within one tenth.
struct LateBin {
  double weight = 0;
  double said = 0;  // weighted sum of the predicted probabilities
  double were = 0;  // weight of the predictions whose deadline was missed

  double mean_said() const { return weight > 0 ? said / weight : 0; }
  double share_late() const { return weight > 0 ? were / weight : 0; }
};

struct Lateness {
  std::array<LateBin, 10> bins;

  void Add(const Lateness& other);
  // Return the largest difference between prediction and observation among bins with at least a
  // hundredth of the weight, and the weighted mean over all bins.
  double largest_error() const;
  double mean_error() const;
};

// Computes the bins of one run. Has the preconditions of Measure().
Lateness MeasureLateness(std::span<const Prediction> predictions, double start, double end);

}  // namespace tidemark::bench
