#include "whatif/phases/correction.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/status/status.h"

namespace tidemark::phases {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

// Prior deviations of the models' errors: the error common to all task times, and that of one
// stage. Chosen by hand; observed runs override them.
constexpr double kAllDeviation = 0.3;
constexpr double kStageDeviation = 0.5;
// The share of the variance of settings' effects that is specific to each stage.
constexpr double kOwnShare = 0.5;
// Candidate deviations, among which the likelihood decides: the effect of doubling a setting, the
// noise of a run, and the noise of a stage.
constexpr double kSettingDeviations[] = {0.05, 0.1, 0.2, 0.4, 0.8, 1.6};
constexpr double kRunDeviations[] = {0.03, 0.08, 0.2};
constexpr double kStageDeviations[] = {0.03, 0.1, 0.3};
// Priors of the deviations, so that few observations do not make them too small. The log of a
// deviation is normal around the log of its prior, with a deviation of 1.
constexpr double kUsualSettingDeviation = 0.3;
constexpr double kUsualRunDeviation = 0.08;
constexpr double kUsualStageDeviation = 0.1;
// The number of rounds in which each deviation is chosen given the others. Further rounds hardly
// change them.
constexpr int kRounds = 3;

double Square(double x) { return x * x; }

bool IsFinite(const ObservedError& error) {
  return std::isfinite(error.log_error) && std::isfinite(error.deviation) && error.deviation >= 0 &&
         std::all_of(error.settings.begin(), error.settings.end(),
                     [](double value) { return std::isfinite(value); });
}

// Returns at most `most` errors, evenly selected by multiples of the golden ratio. Selecting every
// n-th error would select the same stages of each run, or only first tasks.
std::vector<ObservedError> Some(std::span<const ObservedError> all, std::size_t most) {
  constexpr double kGoldenRatio = 0.6180339887498949;
  const double share = static_cast<double>(most) / static_cast<double>(all.size());
  std::vector<ObservedError> some;
  for (std::size_t i = 0; i < all.size() && some.size() < most; ++i) {
    const double turns = kGoldenRatio * static_cast<double>(i);
    if (turns - std::floor(turns) < share) some.push_back(all[i]);
  }
  return some;
}

bool Varies(const std::vector<ObservedError>& errors, std::size_t setting) {
  return std::any_of(errors.begin(), errors.end(), [&](const ObservedError& one) {
    return one.settings[setting] != errors[0].settings[setting];
  });
}

// Returns the log of the prior density of a deviation.
double LogPrior(double deviation, double usual) {
  return -0.5 * Square(std::log(deviation / usual));
}

}  // namespace

double Correction::Alike(const StageTime& time, std::span<const double> at, const StageTime& other,
                         std::span<const double> other_at) const {
  if (time.kind != other.kind) return 0;
  const bool is_same = time.stage == other.stage;
  double settings = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    settings += Square(setting_deviations_[groups_[i]]) * at[i] * other_at[i];
  }
  return Square(kAllDeviation) + (is_same ? Square(kStageDeviation) : 0) +
         settings * (is_same ? 1 : 1 - kOwnShare);
}

class CorrectionFit {
 public:
  explicit CorrectionFit(Correction& correction) : of_(correction) {}

  // Sets the most likely deviations, one at a time.
  void Fit() {
    const std::size_t n = of_.errors_.size();
    errors_ = Vector(n);
    for (std::size_t i = 0; i < n; ++i)
      errors_[static_cast<Eigen::Index>(i)] = of_.errors_[i].log_error;
    best_ = LogLikelihood();
    for (int round = 0; round < kRounds; ++round) {
      for (double& deviation : of_.setting_deviations_) Try(kSettingDeviations, deviation);
      Try(kRunDeviations, of_.run_deviation_);
      Try(kStageDeviations, of_.stage_deviation_);
    }
    const Eigen::LLT<Matrix> covariance(Covariance());
    const Vector weights = covariance.solve(errors_);
    of_.weights_.assign(weights.data(), weights.data() + weights.size());
    const Matrix factor = covariance.matrixL();
    of_.factor_.assign(n, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        of_.factor_[i][j] = factor(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
      }
    }
  }

 private:
  template <typename Entry>
  Matrix Made(const Entry& entry) const {
    const auto n = static_cast<Eigen::Index>(of_.errors_.size());
    Matrix made(n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = 0; j <= i; ++j) {
        made(i, j) = made(j, i) = entry(of_.errors_[static_cast<std::size_t>(i)],
                                        of_.errors_[static_cast<std::size_t>(j)]);
      }
    }
    return made;
  }

  void Try(std::span<const double> deviations, double& deviation) {
    double likeliest = deviation;
    for (const double each : deviations) {
      deviation = each;
      const double likely = LogLikelihood();
      if (!(likely > best_)) continue;
      best_ = likely;
      likeliest = each;
    }
    deviation = likeliest;
  }

  Matrix Covariance() const {
    Matrix whole = Made([this](const ObservedError& one, const ObservedError& other) {
      return of_.Alike(one.time, one.settings, other.time, other.settings);
    });
    const auto n = static_cast<Eigen::Index>(of_.errors_.size());
    for (Eigen::Index i = 0; i < n; ++i) {
      const ObservedError& one = of_.errors_[static_cast<std::size_t>(i)];
      whole(i, i) += Square(of_.stage_deviation_) + Square(one.deviation);
      for (Eigen::Index j = 0; j < n; ++j) {
        const ObservedError& other = of_.errors_[static_cast<std::size_t>(j)];
        if (one.run == other.run) whole(i, j) += Square(of_.run_deviation_);
      }
    }
    return whole;
  }

  // Includes the priors of the deviations.
  double LogLikelihood() const {
    const Eigen::LLT<Matrix> factored(Covariance());
    const Matrix factor = factored.matrixL();
    double likely = -0.5 * errors_.dot(factored.solve(errors_)) -
                    factor.diagonal().array().log().sum() +
                    LogPrior(of_.run_deviation_, kUsualRunDeviation) +
                    LogPrior(of_.stage_deviation_, kUsualStageDeviation);
    for (const double deviation : of_.setting_deviations_) {
      likely += LogPrior(deviation, kUsualSettingDeviation);
    }
    return likely;
  }

  Correction& of_;
  Vector errors_;
  double best_ = 0;
};

absl::StatusOr<Correction> Correction::Learn(std::span<const ObservedError> errors,
                                             std::span<const std::size_t> groups) {
  if (errors.empty()) return absl::InvalidArgumentError("no run has a stage to learn from");
  const std::size_t settings = errors[0].settings.size();
  for (const ObservedError& one : errors) {
    if (one.settings.size() != settings || !IsFinite(one)) {
      return absl::InvalidArgumentError("settings or task times are not numbers");
    }
  }
  Correction learnt;
  learnt.errors_ = Some(errors, kErrorsMax);
  learnt.groups_.assign(groups.begin(), groups.end());
  learnt.groups_.resize(settings);
  std::size_t last = 0;
  for (const std::size_t group : learnt.groups_) {
    if (group >= settings) return absl::InvalidArgumentError("more groups than settings");
    last = std::max(last, group);
  }
  learnt.setting_deviations_.assign(last + 1, kUsualSettingDeviation);
  learnt.run_deviation_ = kUsualRunDeviation;
  learnt.stage_deviation_ = kUsualStageDeviation;
  learnt.centre_.assign(settings, 0);
  for (const ObservedError& one : learnt.errors_) {
    for (std::size_t i = 0; i < settings; ++i) {
      learnt.centre_[i] += one.settings[i] / static_cast<double>(learnt.errors_.size());
    }
  }
  for (ObservedError& one : learnt.errors_) {
    for (std::size_t i = 0; i < settings; ++i) one.settings[i] -= learnt.centre_[i];
  }
  CorrectionFit(learnt).Fit();
  learnt.WidenConstantSettings();
  return learnt;
}

void Correction::WidenConstantSettings() {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (Varies(errors_, i) || setting_deviations_[groups_[i]] >= kUsualSettingDeviation) continue;
    groups_[i] = setting_deviations_.size();
    setting_deviations_.push_back(kUsualSettingDeviation);
  }
}

double Correction::SumAlike(std::span<const TimeAt> at, std::span<const double> amounts) const {
  // Sums of (1, settings), each times its amount.
  std::map<std::size_t, std::vector<double>> of_kinds;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> of_times;
  for (std::size_t s = 0; s < at.size(); ++s) {
    const auto& [time, settings] = at[s];
    for (std::vector<double>* sums : {&of_kinds[time.kind], &of_times[{time.kind, time.stage}]}) {
      sums->resize(1 + settings.size());
      (*sums)[0] += amounts[s];
      for (std::size_t i = 0; i < settings.size(); ++i) (*sums)[1 + i] += amounts[s] * settings[i];
    }
  }
  const auto with_itself = [&](const std::vector<double>& sums, double deviation, double share) {
    double of_settings = 0;
    for (std::size_t i = 0; i + 1 < sums.size(); ++i) {
      of_settings += Square(setting_deviations_[groups_[i]] * sums[1 + i]);
    }
    return Square(deviation * sums[0]) + share * of_settings;
  };
  double alike = 0;
  for (const auto& [kind, sums] : of_kinds) {
    alike += with_itself(sums, kAllDeviation, 1 - kOwnShare);
  }
  for (const auto& [time, sums] : of_times) alike += with_itself(sums, kStageDeviation, kOwnShare);
  return alike;
}

std::vector<TimeAt> Correction::Centred(std::span<const TimeAt> times) const {
  std::vector<TimeAt> at(times.begin(), times.end());
  for (TimeAt& one : at) {
    for (std::size_t i = 0; i < one.settings.size(); ++i) one.settings[i] -= centre_[i];
  }
  return at;
}

std::vector<double> Correction::Predict(std::span<const TimeAt> times) const {
  std::vector<double> log_errors;
  for (const TimeAt& one : Centred(times)) {
    double log_error = 0;
    for (std::size_t i = 0; i < errors_.size(); ++i) {
      log_error +=
          weights_[i] * Alike(one.time, one.settings, errors_[i].time, errors_[i].settings);
    }
    log_errors.push_back(log_error);
  }
  return log_errors;
}

double Correction::Variance(std::span<const TimeAt> times, std::span<const double> amounts) const {
  const std::vector<TimeAt> at = Centred(times);
  double known = 0;
  // The covariance of the sum with the observed errors, computed by inverting their factor.
  std::vector<double> solved(errors_.size());
  for (std::size_t i = 0; i < errors_.size(); ++i) {
    double common = 0;
    for (std::size_t s = 0; s < at.size(); ++s) {
      common +=
          amounts[s] * Alike(at[s].time, at[s].settings, errors_[i].time, errors_[i].settings);
    }
    for (std::size_t j = 0; j < i; ++j) common -= factor_[i][j] * solved[j];
    solved[i] = common / factor_[i][i];
    known += Square(solved[i]);
  }
  double sum = 0;
  double squares = 0;
  for (const double amount : amounts) {
    sum += amount;
    squares += Square(amount);
  }
  return std::max(SumAlike(at, amounts) - known, 0.0) + Square(run_deviation_ * sum) +
         Square(stage_deviation_) * squares;
}

}  // namespace tidemark::phases
