#include "master/model/indicators/end_drift.h"

#include <cmath>
#include <cstddef>

namespace tidemark::model {
namespace {
// Limits memory to 12 KiB a job; of more, every second one is forgotten.
constexpr std::size_t kPredictionsMax = 512;
}  // namespace

void EndDrift::Observe(absl::Time now, absl::Time predicted_end) {
  if (predicted_end == absl::InfinitePast() || predicted_end == absl::InfiniteFuture()) return;
  if (!predictions_.empty() && predictions_.back().made_at == now) {
    predictions_.back().end = predicted_end;
    return;
  }
  if (predictions_.size() == kPredictionsMax) {
    for (std::size_t i = 0; 2 * i < kPredictionsMax; ++i) predictions_[i] = predictions_[2 * i];
    predictions_.resize(kPredictionsMax / 2);
  }
  predictions_.push_back({now, predicted_end});
}

absl::Duration EndDrift::Drift() const {
  if (predictions_.size() < 2) return absl::ZeroDuration();
  const Prediction& newest = predictions_.back();
  const absl::Time since =
      predictions_.front().made_at + (newest.made_at - predictions_.front().made_at) / 2;
  double sum = 0;
  double count = 0;
  for (const Prediction& prediction : predictions_) {
    if (prediction.made_at < since) continue;
    const double moved = absl::ToDoubleSeconds(prediction.end - newest.end);
    sum += moved * moved;
    count += 1;
  }
  return absl::Seconds(std::sqrt(sum / count));
}

}  // namespace tidemark::model
