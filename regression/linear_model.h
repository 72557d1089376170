// Predicts a quantity of a program's run as a linear function of the run's features.
//
//   label = intercept + sum over chosen features of coefficient x feature
//
// Features are chosen one by one. The candidate is the feature with the highest correlation with
// the residuals. It is added if it reduces the cross-validated error, for which each run is
// predicted from all others. Therefore features without influence are left out, and a line needs at
// least three runs.
//
// Source: [GB] 5.1, which uses all features with a high correlation; cross-validation is ours.
// Pure, deterministic, thread-safe when const.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::regression {

// A predicted value, and the reasons why it may be wrong.
struct Forecast {
  double value = 0;
  double deviation = 0;  // a 90 % interval has 1.645 times this half-width
  // Features of the model whose values are outside the range of the runs. They widen the interval.
  std::vector<std::string> beyond;
  // Features that were constant in all runs and now have a new value. Their influence is unknown.
  std::vector<std::string> never_varied;
};

struct Choice {
  std::string feature;
  double coefficient = 0;
  // Features that correlate perfectly with the chosen feature in all runs. Any of them may be the
  // cause.
  std::vector<std::string> indistinguishable;
};

class LinearModel {
 public:
  // Fits the model. Each row contains the values of `features` in one run, in the same order.
  // Returns InvalidArgument if there are no runs, if a row has another length, or if a number is
  // not finite. Takes O(features^2 x runs).
  static absl::StatusOr<LinearModel> Fit(std::vector<std::string> features,
                                         const std::vector<std::vector<double>>& rows,
                                         const std::vector<double>& labels);

  // Predicts the label of a run. REQUIRES: `values` contains one finite value for each feature.
  Forecast Predict(const std::vector<double>& values) const;

  const std::vector<Choice>& choices() const { return choices_; }
  std::size_t runs() const { return runs_; }

 private:
  struct Seen {
    double least = 0;
    double most = 0;
  };
  LinearModel() = default;

  std::vector<std::string> features_;
  std::vector<Seen> seen_;
  std::vector<std::size_t> chosen_;  // indexes into `features_`, in the order of `choices_`
  std::vector<Choice> choices_;
  double intercept_ = 0;
  std::vector<double> means_;  // mean of each chosen feature
  // inverse of the matrix of the centred squares of the chosen features
  std::vector<std::vector<double>> inverse_;
  double residual_ = 0;  // deviation of a run around the line
  std::size_t runs_ = 0;
};

}  // namespace tidemark::regression
