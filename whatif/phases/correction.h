// Learns the errors of the phase models from runs with several settings.
//
// The log of measured / modelled for the mean task of a stage in a run is assumed to be linear in
// the settings (as powers of two). It has a part common to all stages and a part per stage, both
// with mean 0. Far from observed runs, the models dominate; near a run, that run shifts the
// estimate. The residual is noise of a run, common to all its stages, and noise of a stage. The
// deviations of all these parts maximize the likelihood of the runs:
//
//     log(measured / modelled) = (c + c_stage) . (1, settings) + e_run + e_stage
//
// Times other than task times, such as waits for the driver, have their own `c`.
//
// The result therefore follows the runs near observed runs, and the models elsewhere, and its
// deviation reflects the difference. The method is a linear Gaussian process. Pure, deterministic,
// and thread-safe when const. O(n^3) for n stages of runs, of which at most kErrorsMax are used.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::phases {

// A time of a stage. A stage with the same functions has the same number in every run.
struct StageTime {
  std::size_t stage = 0;
  std::size_t kind = 0;  // different kinds only have the run in common
  friend bool operator==(const StageTime&, const StageTime&) = default;
};

// The error of one time in one run.
struct ObservedError {
  StageTime time;
  std::size_t run = 0;
  std::vector<double> settings;  // as powers of two; every error has the same number of settings
  double log_error = 0;          // log(measured / modelled)
  // Additional noise of this error, for example because it is a mean over a few very short tasks.
  double deviation = 0;
};

// A time of a stage at the requested settings. There must be as many settings as in the learnt
// errors.
struct TimeAt {
  StageTime time;
  std::vector<double> settings;
};

class Correction {
 public:
  static constexpr std::size_t kErrorsMax = 240;

  // `groups` are indexed by setting and numbered from 0. The importance of the settings of a group
  // is learnt jointly; settings without a group are in group 0. Fails with InvalidArgument if there
  // is no error, the numbers of settings differ, a number is not finite, or a group is not below
  // the number of settings.
  static absl::StatusOr<Correction> Learn(std::span<const ObservedError> errors,
                                          std::span<const std::size_t> groups = {});

  // Returns the estimated log errors, by index of `times`.
  std::vector<double> Predict(std::span<const TimeAt> times) const;
  // Returns the variance of the sum of these times, each multiplied by its amount, within one run,
  // including noise. REQUIRES: as many amounts as times. O(kErrorsMax * (kErrorsMax + times)).
  double Variance(std::span<const TimeAt> times, std::span<const double> amounts) const;

  double run_deviation() const { return run_deviation_; }
  double stage_deviation() const { return stage_deviation_; }

 private:
  friend class CorrectionFit;
  Correction() = default;
  // Restores the prior of settings that never varied, since a small effect of other settings in the
  // group is no evidence about them.
  void WidenConstantSettings();
  double Alike(const StageTime& time, std::span<const double> at, const StageTime& other,
               std::span<const double> other_at) const;
  // Returns the covariance of a weighted sum with itself.
  double SumAlike(std::span<const TimeAt> at, std::span<const double> amounts) const;
  std::vector<TimeAt> Centred(std::span<const TimeAt> times) const;

  std::vector<ObservedError> errors_;  // observed errors, with settings relative to their centre
  std::vector<double> centre_;
  std::vector<std::size_t> groups_;  // by setting
  std::vector<double>
      setting_deviations_;  // by group, the deviation of the effect of doubling, beyond the models
  double run_deviation_ = 0.1;
  double stage_deviation_ = 0.1;
  std::vector<double> weights_;              // inverse covariance times errors
  std::vector<std::vector<double>> factor_;  // lower Cholesky factor of the covariance
};

}  // namespace tidemark::phases
