// Metrics of an indicator's predictions for a known true end e ([NF] 7.4 and others).
//
// T is the set of updates with t_start < t <= e. Raw progress at t is (t - t_start) / (e~ -
// t_start) within 0..1, and 0 while an indicator has no prediction.
#pragma once

#include <array>
#include <optional>
#include <span>

namespace tidemark::bench {

// The prediction of an indicator at one update, in seconds.
struct Prediction {
  double at = 0;
  std::optional<double> end;    // e~; empty without a prediction
  std::optional<double> lower;  // 90 % interval; both bounds or none
  std::optional<double> upper;
  bool is_of_run = true;  // true if it uses evidence from this run
};

// The update closest to a given share of the true progress.
struct Milestone {
  std::optional<double> end_error;  // |e~ - e| / (e - t_start)
  std::optional<bool> hit;          // whether the interval contained e; empty without an interval
};

// Shares of true progress, in percent.
inline constexpr std::array<int, 7> kMilestones = {2, 5, 10, 25, 50, 75, 90};

struct Metrics {
  double avg_err = 0;  // percentage points of progress
  double max_err = 0;
  // Mean of |e~ - e| / (e - t), each at most 5, over the updates between 5 % and 95 % of the phase.
  // An update without a prediction counts as 1.
  double eta_err = 0;
  double backward = 0;        // share of T at which raw progress fell by more than 0.1 point
  double backward_shown = 0;  // share of T at which shown progress fell by more than 0.1 point
  std::optional<double> coverage90;  // share of the updates with an interval that contained e
  // Mean width of the intervals, each at most 20 (e - t), over the mean remaining time e - t. A
  // mean of quotients would have no bound near the end.
  std::optional<double> width90;
  std::array<Milestone, kMilestones.size()> at;
};

// `predictions` are sorted by time. Without updates, all values are 0 or empty. `start` must be
// before `end`.
Metrics Measure(std::span<const Prediction> predictions, double start, double end);

}  // namespace tidemark::bench
