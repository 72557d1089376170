#include "master/forecast/dag/positive_line.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace tidemark::workflow {
namespace {

// A line that falls below this part of the least that was seen is not believed. Taste.
constexpr double kLeastPart = 0.5;
// Nor one that rises above so many times the most. Taste.
constexpr double kMostTimes = 100;

}  // namespace

PositiveLine::PositiveLine(const std::vector<std::string>& features,
                           const std::vector<std::vector<double>>& rows,
                           std::vector<double> labels) {
  if (labels.empty()) return;
  const auto [least, most] = std::minmax_element(labels.begin(), labels.end());
  if (!(*least > 0) || !std::isfinite(*most)) return;
  floor_ = kLeastPart * *least;
  ceiling_ = kMostTimes * *most;
  if (*most < kAlike * *least) {
    double sum = 0;
    for (const double label : labels) sum += label;
    labels.assign(labels.size(), sum / static_cast<double>(labels.size()));
  }
  auto model = gray_box::LinearModel::Fit(features, rows, labels);
  if (!model.ok()) return;
  model_ = *std::move(model);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    counts_ &= std::abs(At(rows[i]).value - labels[i]) < 0.5;
  }
}

gray_box::Forecast PositiveLine::At(const std::vector<double>& row) const {
  gray_box::Forecast forecast = model_->Predict(row);
  if (!(forecast.value > floor_)) forecast.value = floor_;
  forecast.value = std::min(forecast.value, ceiling_);
  return forecast;
}

}  // namespace tidemark::workflow
