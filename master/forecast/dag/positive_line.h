// A line through what runs showed, which stays among positive numbers: how many tasks, how many
// bytes, how many seconds.
//
// A linear model of features (regression/linear_model.h) is believed from half of the least
// that was seen to a hundred times the most. Labels that differ by less than runs of the same work
// do are noise, which no feature explains. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "regression/linear_model.h"

namespace tidemark::workflow {

// Runs of the same work differ by about as much (kCommonDeviation): no parameter is to explain it.
inline constexpr double kAlike = 1.1;

class PositiveLine {
 public:
  PositiveLine() = default;
  // `rows`: of each run, the values of `features` in their order; `labels`: what each showed.
  // Nothing is known where there is no run, or a label that is not positive and finite. Cost: that
  // of LinearModel::Fit().
  PositiveLine(const std::vector<std::string>& features,
               const std::vector<std::vector<double>>& rows, std::vector<double> labels);

  bool is_known() const { return model_.has_value(); }
  // Whether it goes through all whole numbers: these were told, not found out.
  bool counts() const { return counts_; }
  // What it may fall to, in place of half of the least.
  void FallTo(double floor) { floor_ = floor; }
  // Whether any feature changes it.
  bool moves() const { return model_ && !model_->choices().empty(); }
  // REQUIRES: is_known(); as many values as features, all finite.
  gray_box::Forecast At(const std::vector<double>& row) const;
  // By what one is to be multiplied to become the other; 1: not known, or nothing moves it.
  double Factor(const std::vector<double>& then, const std::vector<double>& now) const {
    return moves() ? At(now).value / At(then).value : 1;
  }

 private:
  std::optional<gray_box::LinearModel> model_;
  bool counts_ = true;
  double floor_ = 0;
  double ceiling_ = 0;
};

}  // namespace tidemark::workflow
