// What something was in the runs that were learnt from, and whether what is asked is beyond that,
// below or above. Pure values.
#pragma once

#include <algorithm>
#include <limits>

namespace tidemark::phases {

class SeenRange {
 public:
  // Of nothing, beyond which everything is.
  SeenRange() = default;

  void See(double value) {
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
  }

  double least() const { return least_; }
  double most() const { return most_; }
  double width() const { return most_ - least_; }  // REQUIRES: something was seen

  // By more than `tolerance`. What is no number is beyond everything.
  bool IsBeyond(double value, double tolerance = 0) const {
    return !(value >= least_ - tolerance && value <= most_ + tolerance);
  }

 private:
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
};

}  // namespace tidemark::phases
