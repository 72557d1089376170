// Learns the errors of the phase models from runs with several settings.
//
// The log of measured / modelled of the mean task of a stage in a run is assumed to be linear in
// the settings (by powers of two). It has a part common to all stages and a part per stage, both
// around 0. Far from observed runs the models dominate; each run shifts the estimate near it. The
// residual is noise of a run, common to all its stages, and noise of a stage. The deviations of all
// these parts maximize the likelihood of the runs:
//
//     log(measured / modelled) = (c + c_stage) . (1, settings) + e_run + e_stage
//
// Times of another kind than task times, such as waits for the driver, have their own `c`.
//
// Near observed runs, the result therefore follows the runs, and elsewhere the models; its
// deviation reflects which of them applies. A linear Gaussian process; pure, deterministic,
// thread-safe when const. Cost: O(n^3) for n stages of runs, of which kErrorsMax are used.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::phases {

// A time of a stage. A stage with the same functions has the same number in every run.
struct StageTime {
  std::size_t stage = 0;
  std::size_t kind = 0;  // different kinds share only the run
  friend bool operator==(const StageTime&, const StageTime&) = default;
};

// The error of one time in one run.
struct ObservedError {
  StageTime time;
  std::size_t run = 0;
  std::vector<double> settings;  // as powers of two; the same number of them in every error
  double log_error = 0;          // log(measured / modelled)
  // Additional noise of this error, for example if it is a mean over a few tasks of a millisecond.
  double deviation = 0;
};

// A time of a stage at the requested settings, which are as many as the learnt ones.
struct TimeAt {
  StageTime time;
  std::vector<double> settings;
};

class Correction {
 public:
  static constexpr std::size_t kErrorsMax = 240;

  // `groups` are indexed by setting and numbered from 0. The importance of the settings of a group
  // is learnt jointly; settings without a group are in group 0. InvalidArgument if there is no
  // error, the numbers of settings differ, a number is not finite, or a group is not below the
  // number of settings.
  static absl::StatusOr<Correction> Learn(std::span<const ObservedError> errors,
                                          std::span<const std::size_t> groups = {});

  // Returns the estimated log errors, by index of `times`.
  std::vector<double> Predict(std::span<const TimeAt> times) const;
  // Returns the variance of the sum of `amounts` times each of these times within one run,
  // including noise. REQUIRES: as many amounts as times. O(kErrorsMax * (kErrorsMax + times)).
  double Variance(std::span<const TimeAt> times, std::span<const double> amounts) const;

  double run_deviation() const { return run_deviation_; }
  double stage_deviation() const { return stage_deviation_; }

 private:
  friend class CorrectionFit;
  Correction() = default;
  // Restores the prior of settings that never varied: the small effect of other settings in the
  // group is not evidence about them.
  void WidenConstantSettings();
  double Alike(const StageTime& time, std::span<const double> at, const StageTime& other,
               std::span<const double> other_at) const;
  // The covariance of a weighted sum with itself.
  double SumAlike(std::span<const TimeAt> at, std::span<const double> amounts) const;
  std::vector<TimeAt> Centred(std::span<const TimeAt> times) const;

  std::vector<ObservedError> errors_;  // settings relative to their centre
  std::vector<double> centre_;
  std::vector<std::size_t> groups_;  // by setting
  std::vector<double>
      setting_deviations_;  // by group: of the effect of doubling, beyond the models
  double run_deviation_ = 0.1;
  double stage_deviation_ = 0.1;
  std::vector<double> weights_;              // inverse covariance times errors
  std::vector<std::vector<double>> factor_;  // lower Cholesky factor of the covariance
};

}  // namespace tidemark::phases
