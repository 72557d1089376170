// How good an indicator's predictions were, once the true end e is known ([NF] 7.4 and more).
//
// T are the updates with t_start < t <= e. Raw progress at t is (t - t_start) / (e~ - t_start)
// within 0..1, and 0 while an indicator has nothing to say.
#pragma once

#include <array>
#include <optional>
#include <span>

namespace tidemark::bench {

// What an indicator said at one update. Seconds.
struct Prediction {
  double at = 0;
  std::optional<double> end;    // e~; empty: nothing to say yet
  std::optional<double> lower;  // 90 % interval; both or none
  std::optional<double> upper;
  bool is_of_run = true;  // whether it rests on what this run has shown
};

// The update nearest to a share of the true progress.
struct Milestone {
  std::optional<double> end_error;  // |e~ - e| / (e - t_start)
  std::optional<bool> hit;          // whether the interval held e; empty: there was none
};

// In percent of true progress.
inline constexpr std::array<int, 7> kMilestones = {2, 5, 10, 25, 50, 75, 90};

struct Metrics {
  double avg_err = 0;  // percentage points of progress
  double max_err = 0;
  // Mean of |e~ - e| / (e - t), each at most 5, over the updates between 5 % and 95 % of the phase;
  // an update without a prediction counts as 1.
  double eta_err = 0;
  double backward = 0;        // share of T at which raw progress fell by more than 0.1 point
  double backward_shown = 0;  // the same of what is shown: it never falls, and is below 1 before e
  std::optional<double> coverage90;  // share of the updates with an interval that held e
  // Mean width of the intervals, each at most 20 (e - t), over the mean of what was left at their
  // updates, e - t: near the end a mean of quotients would be of any size.
  std::optional<double> width90;
  std::array<Milestone, kMilestones.size()> at;
};

// `predictions` are in order of time. Without updates all is 0 or empty. REQUIRES: start < end.
Metrics Measure(std::span<const Prediction> predictions, double start, double end);

}  // namespace tidemark::bench
