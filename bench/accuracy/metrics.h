// Metrics of an indicator's predictions for a known true end e ([NF] 7.4 and others).
//
// T is the set of updates with t_start < t <= e. Raw progress at t is (t - t_start) / (e~ -
// t_start), limited to 0..1, or 0 while an indicator has no prediction.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

namespace tidemark::bench {

// The prediction of an indicator at one update, in seconds.
struct Prediction {
  double at = 0;
  std::optional<double> end;    // e~; nullopt if there is no prediction
  std::optional<double> lower;  // 90 % interval; either both bounds or none
  std::optional<double> upper;
  // The end that makes the shown progress exact; empty if the progress of `end` is shown.
  std::optional<double> shown_end = std::nullopt;
};

// The update closest to a given share of the true progress.
struct Milestone {
  std::optional<double> end_error;  // |e~ - e| / (e - t_start)
  std::optional<bool> hit;  // whether the interval contained e; nullopt if there is no interval
};

// Shares of true progress in percent.
inline constexpr std::array<int, 7> kMilestones = {2, 5, 10, 25, 50, 75, 90};

struct Metrics {
  double avg_err = 0;  // in percentage points of progress
  double max_err = 0;
  double shown_err = 0;  // as avg_err, of shown progress
  // Mean of |e~ - e| / (e - t), each at most 5, over the updates between 5 % and 95 % of the phase.
  // An update without a prediction counts as 1.
  double eta_err = 0;
  // share of the updates in T at which raw progress fell by more than 0.1 point
  double backward = 0;
  // share of the updates in T at which shown progress fell by more than 0.1 point
  double backward_shown = 0;
  // Upper bound of the total time over its lower bound, at the update closest to half of the phase.
  std::optional<double> ratio50;
  std::optional<double> coverage90;  // share of the intervals that contained e
  // Mean width of the intervals, each at most 20 (e - t), divided by the mean remaining time e - t.
  // A mean of quotients would be unbounded near the end.
  std::optional<double> width90;
  std::array<Milestone, kMilestones.size()> at;
};

// Computes the metrics. `predictions` are sorted by time. If they are empty, all values are 0 or
// nullopt. `start` must be before `end`.
Metrics Measure(std::span<const Prediction> predictions, double start, double end);

// Returns {"at": [...], "end": [...], "lower": [...], "upper": [...]}, with null for unset values.
nlohmann::ordered_json PredictionsJson(std::span<const Prediction> predictions);

}  // namespace tidemark::bench
