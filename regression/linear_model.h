// A number that runs of a program had, as a linear function of what they were given.
//
//   label = intercept + sum over chosen features of coefficient x feature
//
// Features are chosen one by one: the one that correlates most with what is left, as long as the
// error at each run, predicted from all others, falls. So what has no influence stays out, and a
// line is drawn through three runs at least.
//
// Source: [GB] 5.1, which takes all features of a high correlation; cross-validation is ours. Pure,
// deterministic, thread-safe when const.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::gray_box {

// What is foretold, and why it may be wrong.
struct Forecast {
  double value = 0;
  double deviation = 0;  // 1.645 of it are half of a 90 % interval
  // Features of the model at values beyond those that were seen; they widen it.
  std::vector<std::string> beyond;
  // Features that were the same in all runs and are another one now: what they do is not known.
  std::vector<std::string> never_varied;
};

struct Choice {
  std::string feature;
  double coefficient = 0;
  // Features that went along with it in all runs: which of them it is that matters is not known.
  std::vector<std::string> indistinguishable;
};

class LinearModel {
 public:
  // `rows`: of each run, the values of `features` in their order. InvalidArgument: no run, a row of
  // another length, a number that is not finite. Cost: O(features^2 x runs).
  static absl::StatusOr<LinearModel> Fit(std::vector<std::string> features,
                                         const std::vector<std::vector<double>>& rows,
                                         const std::vector<double>& labels);

  // REQUIRES: as many values as features, all finite.
  Forecast Predict(const std::vector<double>& values) const;

  const std::vector<Choice>& choices() const { return choices_; }
  double intercept() const { return intercept_; }
  std::size_t runs() const { return runs_; }

 private:
  struct Seen {
    double least = 0;
    double most = 0;
  };
  LinearModel() = default;

  std::vector<std::string> features_;
  std::vector<Seen> seen_;
  std::vector<std::size_t> chosen_;  // indexes of features, as `choices_`
  std::vector<Choice> choices_;
  double intercept_ = 0;
  std::vector<double> means_;                 // of the chosen features
  std::vector<std::vector<double>> inverse_;  // of their centred squares
  double residual_ = 0;                       // deviation of a run around the line
  std::size_t runs_ = 0;
};

}  // namespace tidemark::gray_box
