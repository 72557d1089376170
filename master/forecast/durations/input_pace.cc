#include "master/forecast/durations/input_pace.h"

#include <algorithm>
#include <cmath>

#include "master/forecast/durations/opinions.h"

namespace tidemark::cost {

void ReadShare::Add(double read_for, double seconds) {
  if (!std::isfinite(seconds) || !(read_for > 0) || !(seconds > 0)) return;
  const double log = std::log(std::min(read_for / seconds, 1.0));
  count_ += 1;
  logs_ += log;
  squares_ += log * log;
}

PacedTotal ReadShare::TotalOf(double read_for, double fraction) const {
  const double read = std::min(fraction, 1.0);
  const double log_share = count_ > 0 ? logs_ / count_ : 0;
  const double variance = count_ > 0 ? std::max(squares_ / count_ - log_share * log_share, 0.0) : 0;
  // Work after the last byte repeats as well as other work does.
  const double of_rest = kAgainDeviation * (1 - std::exp(log_share));
  return {.seconds = read_for / read * std::exp(-log_share),
          .deviation = std::hypot(kAgainDeviation * std::sqrt((1 - read) / read),
                                  std::sqrt(variance), of_rest)};
}

}  // namespace tidemark::cost
