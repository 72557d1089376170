#include "master/facts/accuracy.h"

#include <algorithm>
#include <cmath>

namespace tidemark::facts {
namespace {

// Limits the width of one interval, as a multiple of the remaining time.
constexpr double kWidthMax = 20;

}  // namespace

double Progress(absl::Time start, absl::Time now, std::optional<absl::Time> end) {
  if (!end || now <= start) return 0;
  if (*end <= start || *end <= now) return 1;
  return std::clamp(absl::FDivDuration(now - start, *end - start), 0.0, 1.0);
}

ProgressError ErrorOf(std::span<const EndPrediction> predictions, absl::Time start,
                      absl::Time end) {
  ProgressError error;
  double sum = 0;
  for (const EndPrediction& prediction : predictions) {
    if (prediction.at <= start || prediction.at > end) continue;
    const auto& end_shown = prediction.shown_end ? prediction.shown_end : prediction.end;
    const double estimated = Progress(start, prediction.at, end_shown);
    const double points = 100 * std::abs(estimated - Progress(start, prediction.at, end));
    sum += points;
    error.largest_points = std::max(error.largest_points, points);
    ++error.updates;
  }
  if (error.updates > 0) error.average_points = sum / static_cast<double>(error.updates);
  return error;
}

std::optional<double> IntervalCoverage(std::span<const EndPrediction> predictions, absl::Time start,
                                       absl::Time end) {
  double given = 0;
  double held = 0;
  for (const EndPrediction& prediction : predictions) {
    if (prediction.at <= start || prediction.at > end) continue;
    if (!prediction.lower || !prediction.upper) continue;
    given += 1;
    held += *prediction.lower <= end && end <= *prediction.upper ? 1 : 0;
  }
  if (given == 0) return std::nullopt;
  return held / given;
}

std::optional<double> IntervalWidth(std::span<const EndPrediction> predictions, absl::Time start,
                                    absl::Time end) {
  absl::Duration widths;
  absl::Duration left;
  for (const EndPrediction& prediction : predictions) {
    if (prediction.at <= start || prediction.at > end) continue;
    if (!prediction.lower || !prediction.upper) continue;
    widths += std::min(*prediction.upper - *prediction.lower, kWidthMax * (end - prediction.at));
    left += end - prediction.at;
  }
  if (left <= absl::ZeroDuration()) return std::nullopt;
  return absl::FDivDuration(widths, left);
}

void PredictionHistory::Add(const EndPrediction& prediction) {
  if (++skipped_ < stride_) return;
  skipped_ = 0;
  // A checkpoint of an older version may contain more predictions.
  if (const std::size_t kept = predictions_.size(); kept >= most_) {
    for (std::size_t i = 0; 2 * i < kept; ++i) predictions_[i] = predictions_[2 * i];
    predictions_.resize((kept + 1) / 2);
    stride_ *= 2;
  }
  predictions_.push_back(prediction);
}

}  // namespace tidemark::facts
