// Adjusts past runs of an application of stages to other parameters ([GB]). PositiveLine models a
// quantity, WorkModel models the stages of one kind of work, and AdjustRuns() returns the adjusted
// runs.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "master/forecast/dag/workflow_state.h"
#include "master/forecast/durations/parameters.h"
#include "regression/linear_model.h"
#include "tidemark/past_run.h"

namespace tidemark::dag {

// Runs of the same work differ by less than this factor (kCommonDeviation).
inline constexpr double kAlike = 1.1;

// A linear model of a positive quantity over the runs, such as a number of tasks, bytes, or
// seconds.
//
// The estimate of the linear model (regression/linear_model.h) is clamped between half of the
// smallest label and a hundred times the largest one. If labels differ less than runs of the same
// work do, the differences are noise, which no feature explains. Pure.
class PositiveLine {
 public:
  PositiveLine() = default;
  // Fits the model. `rows` contains the values of `features` in each run, and `labels` the quantity
  // in each run. The model is unknown if there are no runs, or if a label is not positive and
  // finite. Costs as much as LinearModel::Fit().
  PositiveLine(const std::vector<std::string>& features,
               const std::vector<std::vector<double>>& rows, std::vector<double> labels);

  bool is_known() const { return model_.has_value(); }
  // Returns true if the model fits all labels exactly and all labels are whole numbers, so that the
  // features determine them.
  bool counts() const { return counts_; }
  // Replaces the lower bound of the estimates.
  void FallTo(double floor) { floor_ = floor; }
  // Returns true if any feature changes the quantity.
  bool moves() const { return model_ && !model_->choices().empty(); }
  // Returns the estimate. REQUIRES: is_known(); one finite value per feature.
  regression::Forecast At(const std::vector<double>& row) const;
  // Returns the ratio of the estimate for `now` to the estimate for `then`, or 1 if it is unknown
  // or constant.
  double Factor(const std::vector<double>& then, const std::vector<double>& now) const {
    return moves() ? At(now).value / At(then).value : 1;
  }

 private:
  std::optional<regression::LinearModel> model_;
  bool counts_ = true;
  double floor_ = 0;
  double ceiling_ = 0;
};

// Means over all stages of one work in one run.
struct WorkSummary {
  double stages = 0;
  double tasks = 0;
  double read_bytes = 0;
  double task_seconds = 0;
  double bytes_of_task() const { return tasks > 0 ? read_bytes / tasks : 0; }
};

// A past run that can be adjusted. REQUIRES: the profile outlives this object.
struct AdjustableRun {
  const PastRun* profile = nullptr;
  std::vector<double> values;                // values of the parameters
  double input_bytes = 0;                    // total input of the stages without parents
  std::map<std::string, WorkSummary> works;  // by WorkKey() (workflow_state.h)
};

// Returns the summary of a run. O(stages log stages + task times).
AdjustableRun SummaryOf(const PastRun& run, std::vector<double> values);

// Factors on the values of a run.
struct WorkFactors {
  double tasks = 1;
  double read_bytes = 1;
  double task_seconds = 1;
};

// Models the stages of one kind of work as functions of the parameters, from past runs: the number
// of tasks, the bytes that the tasks read per byte of input, and the time of a task.
//
// Three models (PositiveLine) give factors on the values of a run. The time of a task also depends
// on the bytes that it reads and on the slots. Pure.
class WorkModel {
 public:
  // Fits the models. `names` contains the names of the parameters. Ignores runs without the work.
  // O(features^2 x runs).
  WorkModel(const std::string& work, const std::vector<std::string>& names,
            const std::vector<AdjustableRun>& runs);

  // Returns the factors for the parameters `asked` and for `input` times the input of the run.
  WorkFactors Now(const AdjustableRun& run, const std::vector<double>& asked, double input) const;
  // Returns the number of tasks of a stage, or nullopt if no parameter changes it.
  std::optional<regression::Forecast> Tasks(const std::vector<double>& asked) const;
  // Returns the time of a task, or nullopt if unknown.
  std::optional<regression::Forecast> Times(const AdjustableRun& run,
                                            const std::vector<double>& asked, double input) const;

 private:
  std::vector<double> ForTimes(std::vector<double> values, double bytes,
                               const AdjustableRun& run) const;
  std::vector<double> TimesAsked(const AdjustableRun& run, const WorkSummary& seen,
                                 const WorkFactors& by, const std::vector<double>& asked) const;

  std::string work_;
  bool has_bytes_ = false;  // bytes are known in every run, and not constant
  PositiveLine tasks_;
  PositiveLine shares_;  // bytes read per byte of input
  PositiveLine seconds_;
};

// Adjusts the past runs of an application of stages to other parameters ([GB]).
//
// Linear functions of the parameters are chosen by cross-validation over the past runs
// (regression/linear_model.h). For the stages of each kind of work, they predict
// - the number of tasks, and the bytes that they read per byte of input (the white box)
// - the time of a task, from the parameters, the task's bytes and the slots (the black box)
// - the number of repetitions of the work
// The values of every past run are multiplied by estimate(new parameters) / estimate(its
// parameters). Its slots and data are unchanged. The scatter between adjusted runs counts like that
// between any past runs.
//
// Pure, deterministic.

// Fewer runs do not determine a line.
inline constexpr std::size_t kAdjustRunsMin = 3;

struct AdjustedRuns {
  // The run with the nearest parameters, with its stages repeated as predicted, then all other
  // runs, newest first. Empty if past runs need no adjustment.
  std::vector<PastRun> runs;
  // Deviation of ln(task time), common to all stages of a kind of work, by WorkKey()
  // (workflow_state.h). Excludes work that no parameter changes.
  std::map<std::string, double> deviations;
  // Deviation of ln(total time) that follows from the uncertain number of repetitions.
  double repeats_deviation = 0;
  // A message for users, without a period; empty if the parameters are within the range of past
  // runs.
  std::string remark;
};

// Returns the adjusted runs. `history` contains past runs, newest first; runs without parameters
// are ignored. The result is empty if `asked` is empty, if fewer than kAdjustRunsMin runs are
// usable, or if all usable runs had the parameters `asked`. The result is also empty if there are
// too many kinds of work and features. O(runs x (works x features^2 + task times)).
AdjustedRuns AdjustRuns(std::span<const PastRun* const> history,
                        const durations::Parameters& asked);

// Sets StageNow::adjusted_deviation of the stages, which AddExpectedStages() has completed.
void SetDeviations(const AdjustedRuns& adjusted, std::vector<StageNow>& stages);

}  // namespace tidemark::dag
