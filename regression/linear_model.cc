#include "regression/linear_model.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tidemark::regression {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Minimum correlation of a feature with the residuals. Chosen by hand; cross-validation rejects
// almost all features below it.
constexpr double kCorrelationMin = 0.3;
// A feature must reduce the cross-validated error to less than this fraction.
constexpr double kImprovement = 0.9;
// Features with a correlation of this value or more are indistinguishable.
constexpr double kSameFeature = 0.9999;
// Lower bound of the relative deviation. Repeated runs of TPC-DS differ by 3 to 7 %.
constexpr double kDeviationMin = 0.03;
// Relative deviation after a change of a parameter that was constant in all runs. Chosen by hand.
constexpr double kUnknownInfluence = 0.5;
// The 95 % quantiles of Student's t, divided by the quantile of the normal distribution. Element i
// is for i + 1 degrees of freedom.
constexpr double kStudent[] = {3.84, 1.78, 1.43, 1.30, 1.22, 1.18, 1.15, 1.13, 1.11, 1.10};

double StudentFactor(std::size_t degrees) {
  if (degrees == 0) return 2 * kStudent[0];  // the spread is unknown
  return degrees <= std::size(kStudent) ? kStudent[degrees - 1] : 1;
}

double Correlation(const VectorXd& a, const VectorXd& b) {
  const double squares = a.squaredNorm() * b.squaredNorm();
  return squares > 0 ? a.dot(b) / std::sqrt(squares) : 0;
}

// A least-squares fit that passes through the mean of the runs.
struct Line {
  std::vector<std::size_t> features;
  VectorXd coefficients;
  VectorXd residuals;
  MatrixXd inverse;      // inverse of the matrix of centred squares
  double validated = 0;  // root mean square error of held-out runs
};

std::optional<Line> Fitted(const MatrixXd& centred, const VectorXd& labels,
                           std::vector<std::size_t> features) {
  const auto n = labels.size();
  const auto p = static_cast<Eigen::Index>(features.size());
  if (n < p + 2) return std::nullopt;
  Line line = {.features = std::move(features)};
  MatrixXd x(n, p);
  for (Eigen::Index i = 0; i < p; ++i) {
    x.col(i) = centred.col(static_cast<Eigen::Index>(line.features[static_cast<std::size_t>(i)]));
  }
  VectorXd leverages = VectorXd::Constant(n, 1 / static_cast<double>(n));
  line.residuals = labels;
  if (p > 0) {
    const Eigen::FullPivLU<MatrixXd> squares(x.transpose() * x);
    if (!squares.isInvertible()) return std::nullopt;
    line.inverse = squares.inverse();
    line.coefficients = line.inverse * (x.transpose() * labels);
    line.residuals -= x * line.coefficients;
    leverages += (x * line.inverse).cwiseProduct(x).rowwise().sum();
  }
  double sum = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    // The feature differs in a single run only, which is no evidence.
    if (!(leverages[i] < 1 - 1e-9)) return std::nullopt;
    const double error = line.residuals[i] / (1 - leverages[i]);
    sum += error * error;
  }
  line.validated = std::sqrt(sum / static_cast<double>(n));
  return line;
}

// Returns the unchosen feature whose correlation with the residuals is highest.
std::optional<std::size_t> Next(const MatrixXd& centred, const Line& line) {
  std::optional<std::size_t> best;
  double most = kCorrelationMin;
  for (Eigen::Index i = 0; i < centred.cols(); ++i) {
    const auto feature = static_cast<std::size_t>(i);
    if (std::count(line.features.begin(), line.features.end(), feature) > 0) continue;
    const double correlation = std::abs(Correlation(centred.col(i), line.residuals));
    if (correlation > most) {
      most = correlation;
      best = feature;
    }
  }
  return best;
}

Line Chosen(const MatrixXd& centred, const VectorXd& labels, double tiny) {
  std::optional<Line> line = Fitted(centred, labels, {});
  if (!line) return {.residuals = labels};  // There is a single run.
  while (line->validated > tiny) {
    const std::optional<std::size_t> next = Next(centred, *line);
    if (!next) break;
    std::vector<std::size_t> features = line->features;
    features.push_back(*next);
    std::optional<Line> longer = Fitted(centred, labels, std::move(features));
    if (!longer || longer->validated > kImprovement * line->validated) break;
    line = std::move(longer);
  }
  return *std::move(line);
}

}  // namespace

absl::StatusOr<LinearModel> LinearModel::Fit(std::vector<std::string> features,
                                             const std::vector<std::vector<double>>& rows,
                                             const std::vector<double>& labels) {
  if (rows.empty() || rows.size() != labels.size()) {
    return absl::InvalidArgumentError(absl::StrCat(rows.size(), " runs and ", labels.size(),
                                                   " labels; there must be one for each run"));
  }
  const auto n = static_cast<Eigen::Index>(rows.size());
  const auto p = static_cast<Eigen::Index>(features.size());
  MatrixXd x(n, p);
  VectorXd y(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const std::vector<double>& row = rows[static_cast<std::size_t>(i)];
    if (row.size() != features.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "run ", i, " has ", row.size(), " values; there are ", features.size(), " features"));
    }
    for (Eigen::Index j = 0; j < p; ++j) x(i, j) = row[static_cast<std::size_t>(j)];
    y[i] = labels[static_cast<std::size_t>(i)];
  }
  if (!x.allFinite() || !y.allFinite()) {
    return absl::InvalidArgumentError("a feature or label is not finite");
  }
  LinearModel model;
  model.features_ = std::move(features);
  model.runs_ = rows.size();
  const Eigen::RowVectorXd means = x.colwise().mean();
  const MatrixXd centred = x.rowwise() - means;
  const double mean = y.mean();
  for (Eigen::Index j = 0; j < p; ++j) {
    model.seen_.push_back({x.col(j).minCoeff(), x.col(j).maxCoeff()});
  }
  const Line line = Chosen(centred, (y.array() - mean).matrix(), 1e-9 * y.cwiseAbs().maxCoeff());
  model.intercept_ = mean;
  for (std::size_t i = 0; i < line.features.size(); ++i) {
    const auto feature = static_cast<Eigen::Index>(line.features[i]);
    const auto place = static_cast<Eigen::Index>(i);
    Choice choice = {.feature = model.features_[line.features[i]],
                     .coefficient = line.coefficients[place]};
    for (Eigen::Index j = 0; j < p; ++j) {
      if (j == feature) continue;
      if (std::abs(Correlation(centred.col(j), centred.col(feature))) >= kSameFeature) {
        choice.indistinguishable.push_back(model.features_[static_cast<std::size_t>(j)]);
      }
    }
    model.intercept_ -= choice.coefficient * means[feature];
    model.means_.push_back(means[feature]);
    model.inverse_.emplace_back();
    for (Eigen::Index j = 0; j < line.inverse.cols(); ++j) {
      model.inverse_.back().push_back(line.inverse(place, j));
    }
    model.choices_.push_back(std::move(choice));
  }
  model.chosen_ = line.features;
  const std::size_t fitted = line.features.size() + 1;
  const std::size_t degrees = model.runs_ - std::min(fitted, model.runs_);
  const double spread =
      degrees > 0 ? std::sqrt(line.residuals.squaredNorm() / static_cast<double>(degrees)) : 0;
  model.residual_ = std::max(spread, kDeviationMin * std::abs(mean)) * StudentFactor(degrees);
  return model;
}

Forecast LinearModel::Predict(const std::vector<double>& values) const {
  Forecast forecast = {.value = intercept_};
  std::vector<double> from_mean;
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    const double value = values[chosen_[i]];
    forecast.value += choices_[i].coefficient * value;
    from_mean.push_back(value - means_[i]);
  }
  double leverage = runs_ > 0 ? 1 / static_cast<double>(runs_) : 1;
  for (std::size_t i = 0; i < from_mean.size(); ++i) {
    for (std::size_t j = 0; j < from_mean.size(); ++j) {
      leverage += from_mean[i] * inverse_[i][j] * from_mean[j];
    }
  }
  forecast.deviation = residual_ * std::sqrt(1 + leverage);
  for (const std::size_t feature : chosen_) {
    const Seen& seen = seen_[feature];
    const double value = values[feature];
    const double outside = std::max({seen.least - value, value - seen.most, 0.0});
    if (outside == 0) continue;
    forecast.beyond.push_back(features_[feature]);
    // The relation may not be linear beyond the known range. At a distance of one width of the
    // known range, the deviation has doubled.
    forecast.deviation *= 1 + outside / (seen.most - seen.least);
  }
  for (std::size_t i = 0; i < features_.size(); ++i) {
    if (seen_[i].least == seen_[i].most && values[i] != seen_[i].least) {
      forecast.never_varied.push_back(features_[i]);
    }
  }
  if (!forecast.never_varied.empty()) {
    forecast.deviation =
        std::max(2 * forecast.deviation, kUnknownInfluence * std::abs(forecast.value));
  }
  return forecast;
}

}  // namespace tidemark::regression
