#include "bench/accuracy/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace tidemark::bench {
namespace {

// The relative error of the remaining time counts only within this range of the phase.
constexpr double kEtaFrom = 0.05;
constexpr double kEtaTo = 0.95;
constexpr double kEtaErrorMax = 5;
// Smaller decreases are ignored.
constexpr double kStepBack = 0.001;
// Interval widths are capped at this multiple of the remaining time.
constexpr double kWidthMax = 20;
// Shown progress of a running job never reaches 100 %.
constexpr double kShownMax = 0.999;
// Tolerance for shares of the phase, which are rounded quotients.
constexpr double kRounding = 1e-9;

// The predictions and times of one run, and the metrics that they result in.
class Run {
 public:
  Run(std::span<const Prediction> predictions, double start, double end)
      : start_(start), end_(end) {
    for (const Prediction& prediction : predictions) {
      if (prediction.at > start && prediction.at <= end) updates_.push_back(prediction);
    }
  }

  bool empty() const { return updates_.empty(); }
  void AddErrors(Metrics& metrics) const;
  void AddEtaError(Metrics& metrics) const;
  void AddSteps(Metrics& metrics) const;
  void AddIntervals(Metrics& metrics) const;
  const Prediction& Nearest(double share) const;
  Milestone At(double share) const;

 private:
  double TrueProgress(const Prediction& update) const {
    return (update.at - start_) / (end_ - start_);
  }
  double ShownProgress(const Prediction& update) const {
    const double shown = Progress(update.at, update.shown_end ? update.shown_end : update.end);
    return std::min(shown, update.at < end_ ? kShownMax : 1);
  }
  double RawProgress(const Prediction& update) const { return Progress(update.at, update.end); }
  double Progress(double at, std::optional<double> end) const {
    if (!end) return 0;
    return *end <= at ? 1 : (at - start_) / (*end - start_);
  }
  bool Holds(const Prediction& update) const {
    return *update.lower <= end_ && end_ <= *update.upper;
  }
  double count() const { return static_cast<double>(updates_.size()); }

  std::vector<Prediction> updates_;
  double start_;
  double end_;
};

void Run::AddErrors(Metrics& metrics) const {
  double sum = 0;
  double shown = 0;
  for (const Prediction& update : updates_) {
    const double error = 100 * std::abs(RawProgress(update) - TrueProgress(update));
    sum += error;
    shown += 100 * std::abs(ShownProgress(update) - TrueProgress(update));
    metrics.max_err = std::max(metrics.max_err, error);
  }
  metrics.avg_err = sum / count();
  metrics.shown_err = shown / count();
}

void Run::AddEtaError(Metrics& metrics) const {
  double sum = 0;
  int count = 0;
  for (const Prediction& update : updates_) {
    const double progress = TrueProgress(update);
    if (progress < kEtaFrom - kRounding || progress > kEtaTo + kRounding) continue;
    ++count;
    const double error = update.end ? std::abs(*update.end - end_) / (end_ - update.at) : 1;
    sum += std::min(error, kEtaErrorMax);
  }
  if (count > 0) metrics.eta_err = sum / count;
}

void Run::AddSteps(Metrics& metrics) const {
  double raw_before = 0;
  double shown_before = 0;
  int backward = 0;
  int backward_shown = 0;
  for (const Prediction& update : updates_) {
    const double raw = RawProgress(update);
    const double shown = ShownProgress(update);
    backward += raw < raw_before - kStepBack ? 1 : 0;
    backward_shown += shown < shown_before - kStepBack ? 1 : 0;
    raw_before = raw;
    shown_before = shown;
  }
  metrics.backward = backward / count();
  metrics.backward_shown = backward_shown / count();
}

void Run::AddIntervals(Metrics& metrics) const {
  double widths = 0;
  double left = 0;
  int hits = 0;
  int count = 0;
  for (const Prediction& update : updates_) {
    if (!update.lower || !update.upper) continue;
    ++count;
    hits += Holds(update) ? 1 : 0;
    widths += std::min(*update.upper - *update.lower, kWidthMax * (end_ - update.at));
    left += end_ - update.at;
  }
  if (count == 0) return;
  metrics.coverage90 = static_cast<double>(hits) / count;
  if (left > 0) metrics.width90 = widths / left;
  const Prediction& half = Nearest(0.5);
  if (half.lower && half.upper && *half.lower > start_) {
    metrics.ratio50 = (*half.upper - start_) / (*half.lower - start_);
  }
}

const Prediction& Run::Nearest(double share) const {
  return *std::min_element(
      updates_.begin(), updates_.end(), [&](const Prediction& a, const Prediction& b) {
        return std::abs(TrueProgress(a) - share) < std::abs(TrueProgress(b) - share);
      });
}

Milestone Run::At(double share) const {
  const Prediction& nearest = Nearest(share);
  Milestone milestone;
  if (nearest.end) milestone.end_error = std::abs(*nearest.end - end_) / (end_ - start_);
  if (nearest.lower && nearest.upper) milestone.hit = Holds(nearest);
  return milestone;
}

}  // namespace

Metrics Measure(std::span<const Prediction> predictions, double start, double end) {
  Metrics metrics;
  const Run run(predictions, start, end);
  if (run.empty()) return metrics;
  run.AddErrors(metrics);
  run.AddEtaError(metrics);
  run.AddSteps(metrics);
  run.AddIntervals(metrics);
  for (std::size_t i = 0; i < kMilestones.size(); ++i) {
    metrics.at[i] = run.At(kMilestones[i] / 100.0);
  }
  return metrics;
}

nlohmann::ordered_json PredictionsJson(std::span<const Prediction> predictions) {
  using Json = nlohmann::ordered_json;
  Json at = Json::array(), end = Json::array(), lower = Json::array(), upper = Json::array();
  const auto add = [](const std::optional<double>& value, Json& values) {
    values.push_back(value ? Json(*value) : Json(nullptr));
  };
  for (const Prediction& prediction : predictions) {
    at.push_back(prediction.at);
    add(prediction.end, end);
    add(prediction.lower, lower);
    add(prediction.upper, upper);
  }
  return {{"at", at}, {"end", end}, {"lower", lower}, {"upper", upper}};
}

}  // namespace tidemark::bench
