// Measures the error of an indicator once the true end is known ([NF] 7.4).
//
//   error(t) = | (t - t_start) / (e~(t) - t_start)  -  (t - t_start) / (e - t_start) | x 100
//   avgErr = mean, maxErr = max over the updates t with t_start < t <= e
//
// e~ is the end that makes the shown progress exact or, if no progress was shown, the forecast end.
// Estimated progress is clamped to 100 %. Estimated progress is 0 % while an indicator has no
// estimate.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "absl/time/time.h"

namespace tidemark::facts {

// The forecast of an indicator at one update.
struct EndPrediction {
  absl::Time at;
  std::optional<absl::Time> end;
  std::optional<absl::Time> lower;
  std::optional<absl::Time> upper;
  // The end that makes the shown progress exact. Unset if no progress was shown.
  std::optional<absl::Time> shown_end = std::nullopt;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(at, end, lower, upper, shown_end);
  }
};

struct ProgressError {
  double average_points = 0;  // 0..100
  double largest_points = 0;  // 0..100
  std::size_t updates = 0;    // |T|. If it is 0, both errors are 0.
};

// Returns (now - start) / (end - start), in 0..1. Returns 0 if `end` is unset, and 1 if `end` is
// not after both `start` and `now`.
double Progress(absl::Time start, absl::Time now, std::optional<absl::Time> end);

ProgressError ErrorOf(std::span<const EndPrediction> predictions, absl::Time start, absl::Time end);

// Returns the share of the updates whose interval contains `end`. Only updates with an interval and
// start < t <= end count. Returns nullopt if no update counts.
std::optional<double> IntervalCoverage(std::span<const EndPrediction> predictions, absl::Time start,
                                       absl::Time end);

// Returns the mean width of the intervals divided by the mean remaining time, end - t, over the
// updates with start < t <= end. Each width is capped at 20 (end - t). The mean of the quotients
// would be unbounded near the end. Returns nullopt if no update has an interval.
std::optional<double> IntervalWidth(std::span<const EndPrediction> predictions, absl::Time start,
                                    absl::Time end);

// Keeps up to `most` (at least two) forecasts of an indicator. When full, it drops every second
// forecast, so that the rest stay evenly spread.
class PredictionHistory {
 public:
  PredictionHistory() = default;
  explicit PredictionHistory(std::size_t most) : most_(most) {}
  void Add(const EndPrediction& prediction);
  std::span<const EndPrediction> predictions() const { return predictions_; }
  // For checkpoints (master/facts/checkpoint.h).
  template <class Archive>
  void serialize(Archive& archive) {
    archive(predictions_, stride_, skipped_);
  }

 private:
  // Enough for more than three minutes at the shortest tick interval. Each forecast takes 60 bytes
  // per indicator and job.
  std::size_t most_ = 1024;
  std::vector<EndPrediction> predictions_;
  std::size_t stride_ = 1;   // Only one in this many updates is kept.
  std::size_t skipped_ = 0;  // updates since the last one that was kept
};

}  // namespace tidemark::facts
