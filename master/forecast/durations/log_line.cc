#include "master/forecast/durations/log_line.h"

#include <cmath>

#include "master/forecast/durations/opinions.h"

namespace tidemark::cost {

void LogLine::Add(std::optional<double> size, double seconds) {
  Pair& pair = pairs_.emplace_back();
  if (size) pair.log_size = std::log(*size);
  pair.log_seconds = std::log(seconds);
}

LogLine::Prediction LogLine::At(std::optional<double> size) const {
  const auto count = static_cast<double>(pairs_.size());
  double log_seconds = 0;
  double log_size = 0;
  double sized = 0;
  for (const Pair& pair : pairs_) {
    log_seconds += pair.log_seconds / count;
    if (!pair.log_size) continue;
    log_size += *pair.log_size;
    sized += 1;
  }
  if (sized > 0) log_size /= sized;
  const auto away = [&](const Pair& pair) { return pair.log_size ? *pair.log_size - log_size : 0; };
  const double variance = scatter_ * scatter_;
  double precision = 1 / (slope_deviation_ * slope_deviation_);
  double slope = precision * slope_;
  for (const Pair& pair : pairs_) {
    precision += away(pair) * away(pair) / variance;
    slope += away(pair) * (pair.log_seconds - log_seconds) / variance;
  }
  slope /= precision;
  double squares = 0;
  for (const Pair& pair : pairs_) {
    const double off = pair.log_seconds - log_seconds - slope * away(pair);
    squares += off * off;
  }
  const double seen = (kPriorCount * variance + squares) / (kPriorCount + count - 1);
  const double at = size && sized > 0 ? std::log(*size) - log_size : 0;
  return {.log = log_seconds + slope * at,
          .deviation = std::sqrt(seen * (1 + 1 / count) + at * at / precision),
          .slope = slope};
}

}  // namespace tidemark::cost
