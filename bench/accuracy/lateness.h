// Whether jobs that are said to be late with some probability are late as often.
//
// A reader sets a deadline at the first update that has an interval, at kDeadlines times what is
// then said to be left, and holds on to it: nothing about the deadline tells of the true end. Each
// later update until the deadline says how likely it is missed. Updates of one run and deadline
// count together as much as those of another.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "bench/accuracy/metrics.h"

namespace tidemark::bench {

inline constexpr std::array<double, 9> kDeadlines = {0.5, 0.7, 0.85, 0.95, 1.05, 1.2, 1.5, 2, 3};

// What was said with a probability within one tenth.
struct LateBin {
  double weight = 0;
  double said = 0;  // sum of the probabilities, by weight
  double were = 0;  // of those that were late, the weight

  double mean_said() const { return weight > 0 ? said / weight : 0; }
  double share_late() const { return weight > 0 ? were / weight : 0; }
};

struct Lateness {
  std::array<LateBin, 10> bins;

  void Add(const Lateness& other);
  // The largest difference between what was said and what was, of bins that have at least a
  // hundredth of all; and the mean by weight, of all bins.
  double largest_error() const;
  double mean_error() const;
};

// Of one run. REQUIRES: as Measure().
Lateness MeasureLateness(std::span<const Prediction> predictions, double start, double end);

}  // namespace tidemark::bench
