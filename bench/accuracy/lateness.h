// Compares stated probabilities of lateness with observed frequencies.
//
// Deadlines are at kDeadlines times the true time of a run, and at the same multiples of its first
// predicted time. People who set deadlines know the second time at best. The first choice depends
// on the outcome: half of these deadlines are missed, whatever the forecast states. Each update
// until the deadline states the probability of missing it. All updates of one run and deadline have
// a total weight of one.
#pragma once

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>

#include "bench/accuracy/metrics.h"

namespace tidemark::bench {

inline constexpr std::array<double, 4> kDeadlines = {0.8, 0.99, 1.01, 1.2};

// Predictions with probabilities in one tenth of the range.
struct LateBin {
  double weight = 0;
  double said = 0;  // weighted sum of the predicted probabilities
  double were = 0;  // weight of the predictions whose deadline was missed

  double mean_said() const { return weight > 0 ? said / weight : 0; }
  double share_late() const { return weight > 0 ? were / weight : 0; }
};

struct LateBins {
  std::array<LateBin, 10> bins;

  void Add(const LateBins& other);
  // These functions return the largest difference between prediction and observation among bins
  // with at least a fiftieth of the weight, and the weighted mean over all bins.
  double largest_error() const;
  double mean_error() const;
};

struct Lateness {
  LateBins near_end;       // deadlines at multiples of the true time
  LateBins near_forecast;  // deadlines at multiples of the first predicted time

  void Add(const Lateness& other);
};

// Computes the bins of one run. Has the same preconditions as Measure().
Lateness MeasureLateness(std::span<const Prediction> predictions, double start, double end);

// Returns {"largest_error": ..., "mean_error": ..., "bins": [{"weight", "said", "were"}, ...]} of
// the deadlines near the end, and of the deadlines near the forecast as "near_forecast".
nlohmann::ordered_json LatenessJson(const Lateness& lateness);

}  // namespace tidemark::bench
