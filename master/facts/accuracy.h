// How wrong an indicator was, once the truth is known ([NF] 7.4).
//
//   error(t) = | (t - t_start) / (e~(t) - t_start)  -  (t - t_start) / (e - t_start) | x 100
//   avgErr = mean, maxErr = max over the updates t with t_start < t <= e
//
// Estimated progress is clamped to 100 %; while an indicator had nothing to say it counts as 0 %.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "absl/time/time.h"

namespace tidemark::model {

// What an indicator said at one update.
struct EndPrediction {
  absl::Time at;
  std::optional<absl::Time> end;
  std::optional<absl::Time> lower;
  std::optional<absl::Time> upper;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(at, end, lower, upper);
  }
};

struct ProgressError {
  double average_points = 0;  // 0..100
  double largest_points = 0;  // 0..100
  std::size_t updates = 0;    // |T|; with none, both errors are 0
};

// (now - start) / (end - start), 0..1; 0 without an end, 1 when end is not after start or now.
double Progress(absl::Time start, absl::Time now, std::optional<absl::Time> end);

ProgressError ErrorOf(std::span<const EndPrediction> predictions, absl::Time start, absl::Time end);

// Share of the updates with start < t <= end that gave an interval in which `end` lies; empty when
// none gave one.
std::optional<double> IntervalCoverage(std::span<const EndPrediction> predictions, absl::Time start,
                                       absl::Time end);

// Mean width of the intervals of the updates with start < t <= end, each at most 20 (end - t), over
// the mean of what was left, end - t: near the end a mean of quotients would be of any size. Empty
// when none gave one.
std::optional<double> IntervalWidth(std::span<const EndPrediction> predictions, absl::Time start,
                                    absl::Time end);

// What an indicator said so far. At most `most` updates are kept, at least two; when full every
// second one is forgotten, so the rest stay evenly spread.
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
  // Over three minutes of the shortest ticks; each takes 60 bytes of every indicator of every job.
  std::size_t most_ = 1024;
  std::vector<EndPrediction> predictions_;
  std::size_t stride_ = 1;   // one in so many updates is kept
  std::size_t skipped_ = 0;  // since the last one kept
};

}  // namespace tidemark::model
