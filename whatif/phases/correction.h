// What the phase models get wrong, as runs at several settings show it.
//
// Of each stage of each run: log(measured / modelled) of its mean task. That is taken for a linear
// function of the settings (by powers of two), one part the same for all stages, one of each
// stage's own, all around 0: where nothing was seen the models have the last word, and every run
// moves it. What is left is noise of a run, which all its stages share, and of a stage. How large
// each of these is, the runs say themselves: what makes them most likely.
//
//   log(measured / modelled) = (c + c_stage) . (1, settings) + e_run + e_stage
//
// Times of another kind than those of tasks, such as waits for the driver, have a `c` of their own.
//
// So the answer near runs that were seen is theirs, away from them it is the models', and its
// deviation says which. A linear Gaussian process; pure, deterministic, thread-safe when const.
// Cost: O(n^3) for n stages of runs, of which kSeenMax are looked at.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::phases {

// A time of a stage: the same in all runs for the same functions.
struct StageTime {
  std::size_t stage = 0;
  std::size_t kind = 0;  // those of different kinds have nothing in common but their run
  friend bool operator==(const StageTime&, const StageTime&) = default;
};

// One of one run.
struct SeenError {
  StageTime time;
  std::size_t run = 0;
  std::vector<double> settings;  // as powers of two; as many of each
  double log_error = 0;          // log(measured / modelled)
  // Of this one beside what all have, such as of the mean of a few tasks of a millisecond.
  double deviation = 0;
};

// A time of a stage at settings that are asked about; as many of these as were learnt from.
struct TimeAt {
  StageTime time;
  std::vector<double> settings;
};

class Correction {
 public:
  static constexpr std::size_t kSeenMax = 240;

  // `groups`: by setting, from 0 on; how much those of one group matter is learnt together.
  // Settings beyond them are of group 0. InvalidArgument: none seen; not as many settings in all; a
  // number that is not finite; a group that is not below the number of settings.
  static absl::StatusOr<Correction> Learn(std::span<const SeenError> seen,
                                          std::span<const std::size_t> groups = {});

  // Expected errors, by place in `times`.
  std::vector<double> Predict(std::span<const TimeAt> times) const;
  // Of the sum of so many of each of these, if all are of one run; with its noise. As many amounts
  // as times. O(kSeenMax * (kSeenMax + times)).
  double Variance(std::span<const TimeAt> times, std::span<const double> amounts) const;

  double run_deviation() const { return run_deviation_; }
  double stage_deviation() const { return stage_deviation_; }

 private:
  friend class CorrectionFit;
  Correction() = default;
  // That others of its group hardly matter says nothing of a setting that was always the same.
  void DoubtWhatNeverVaried();
  double Alike(const StageTime& time, std::span<const double> at, const StageTime& other,
               std::span<const double> other_at) const;
  // The same of a sum of so many of each with itself.
  double SumAlike(std::span<const TimeAt> at, std::span<const double> amounts) const;
  std::vector<TimeAt> Centred(std::span<const TimeAt> times) const;

  std::vector<SeenError> seen_;  // settings less their centre
  std::vector<double> centre_;
  std::vector<std::size_t> groups_;         // by setting
  std::vector<double> setting_deviations_;  // by group: of what doubling does beyond the models
  double run_deviation_ = 0.1;
  double stage_deviation_ = 0.1;
  std::vector<double> weights_;              // inverse covariance times errors
  std::vector<std::vector<double>> factor_;  // lower Cholesky factor of the covariance
};

}  // namespace tidemark::phases
