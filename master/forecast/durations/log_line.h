// The log of a time as a line over the log of a size, from few pairs of them: least squares with a
// normal prior on the slope and a prior on the scatter, which makes of it the predictive
// distribution of one more time.
//
// Not thread-safe. Cost: O(pairs) for each prediction.
#pragma once

#include <optional>
#include <vector>

namespace tidemark::cost {

class LogLine {
 public:
  // `scatter`: of the log of a time around the line, as kPriorCount pairs would show it. `slope`
  // and its deviation: before there are pairs.
  LogLine(double scatter, double slope, double slope_deviation)
      : scatter_(scatter), slope_(slope), slope_deviation_(slope_deviation) {}

  // `size` > 0; empty: not known. `seconds` > 0.
  void Add(std::optional<double> size, double seconds);
  bool empty() const { return pairs_.empty(); }

  // Of the log of a time (ln s).
  struct Prediction {
    double log = 0;
    double deviation = 0;
    double slope = 0;  // of the line
  };
  // Pairs without a size move the level alone. Where the size is not known, or those of the pairs
  // are not, the mean. REQUIRES: !empty().
  Prediction At(std::optional<double> size) const;

 private:
  struct Pair {
    std::optional<double> log_size;
    double log_seconds = 0;
  };
  const double scatter_;
  const double slope_;
  const double slope_deviation_;
  std::vector<Pair> pairs_;
};

}  // namespace tidemark::cost
