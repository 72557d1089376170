// Models of a Spark application, learnt from its runs. They estimate a run with other settings,
// other numbers of partitions or more data. With several runs, the errors for left-out runs choose
// between the phase models and the black box of [GB], and determine the width of the bounds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/forecast/durations/parameters.h"
#include "spark/measured_stages.h"
#include "tidemark/job_query.h"
#include "tidemark/plan.h"
#include "whatif/phases/many_runs.h"
#include "whatif/phases/settings.h"
#include "whatif/phases/whole_runs.h"
#include "whatif/spark_parameters.h"
#include "whatif/spark_run.h"

namespace tidemark::whatif {

// Values of settings by name, as in spark-submit --conf.
using Settings = std::map<std::string, std::string>;

// Standard deviation of ln(duration) if a setting has a value that no model covers. Chosen by hand.
inline constexpr double kUnmodelledDeviation = 0.3;

// The settings of a run, and these settings with changes.
struct SettingsPair {
  phases::Settings ran;
  phases::Settings other;
  // Human-readable remarks on values that Spark allows but no model covers, for the run and for the
  // changes. A change to the value that the run had has no effect and no remark.
  std::vector<std::string> of_run;
  std::vector<std::string> of_changes;
};

// Applies `changes` to the settings of the run. Fails if a name is not a Spark setting, Spark
// rejects a value, there are more than kSlotsMax slots, or the version of Spark or the number of
// executors is unknown. Errors name the setting.
absl::StatusOr<SettingsPair> SettingsOf(const spark::MeasuredStages& measured,
                                        const Settings& changes);

// A run with other settings, as the models predict it.
struct ModelledRun {
  Plan plan;                    // contains the task times that the models predict
  std::uint32_t slots = 1;      // slots of the run; the plan has the slots of its task times
  std::uint32_t executors = 0;  // executors that provide these slots; 0 if unknown
  double cores = 0;             // cores of these executors; 0 if unknown
  // Standard deviation of ln(duration) for effects that the models do not cover.
  double deviation = 0;
  // The bounds keep this share of their logarithmic distance from the median.
  double bounds_share = 1;
  // The duration according to past runs on other slots. Empty if the plan gives it. Its deviation
  // covers the task times.
  std::optional<phases::WholeEstimate> whole;
  // The end of the plan without the changes that `whole` does not cover. Empty if `whole` covers
  // all changes.
  std::optional<absl::Duration> whole_of;
  std::string binding;  // component that takes most of the time; empty if unknown
  std::string model;    // name of the model that predicts the duration, for messages
  // human-readable remarks on effects that the models do not cover
  std::vector<std::string> remarks;
};

// Returns when the run would end. Fails like EstimateStages().
absl::StatusOr<Outcome> EstimateRun(const ModelledRun& run, const Scenario& scenario,
                                    absl::Time at);

// The run on other slots, from the load of its stages. A run that did not succeed is assumed to
// take as long as its plan. Has no effect for logs without task metrics or a version of Spark.
class SlotScaling {
 public:
  // `run` must outlive the result.
  explicit SlotScaling(const SparkRun& run);

  // Sets the duration of `other` on these slots. `has_changes` is true if its plan differs from the
  // run in more than the slots.
  void Apply(std::uint32_t slots, bool has_changes, ModelledRun& other) const;

 private:
  const SparkRun& run_;
  std::optional<absl::Duration> end_;  // end of the run
  phases::ScalingModel model_;
};

// Models from one run.
class SparkRunModels {
 public:
  // `run` must outlive the models. Fails like SettingsOf(), and with FailedPrecondition if the log
  // lacks the counters to learn from.
  static absl::StatusOr<SparkRunModels> Learn(const SparkRun& run);

  // Fails like SettingsOf().
  absl::StatusOr<ModelledRun> With(const Settings& changes) const;

 private:
  SparkRunModels(const SparkRun& run, phases::WhatIf models)
      : run_(run), models_(std::move(models)), scaling_(run) {}

  const SparkRun& run_;
  phases::WhatIf models_;
  SlotScaling scaling_;
};

// Models of task times that are learnt from several runs.
enum class TaskModelKind : std::uint8_t { kPhases, kBlackBox };

// The errors of a model for runs outside the learnt set.
struct LeftOutErrors {
  double runs = 0;
  double error = 0;  // mean |predicted - measured| / measured
  // mean square of ln(measured / predicted) over the deviation of the prediction
  double scaled_square = 0;

  void Add(double measured_seconds, double predicted_seconds, double deviation);
};

// Returns the share of their logarithmic distance from the median that the bounds of a model keep.
// The more runs are left out, the nearer to 90 % of log-normal durations are within the bounds.
double BoundsShareOf(const LeftOutErrors& errors);

// Models from several runs of an application.
class SparkRuns {
 public:
  // With more stages of all runs than this, models are not compared, which would take seconds.
  static constexpr std::size_t kComparedStagesMax = 2'000;

  // Questions are about the first run. A run that is given twice (IsSameRun()) counts once. A run
  // that has no stage in common with the first run belongs to another program and is excluded.
  // Fails like SettingsOf() and SparkRunModels::Learn(). Errors name the log of the run, from
  // `paths`.
  static absl::StatusOr<SparkRuns> Learn(std::vector<SparkRun> runs,
                                         const std::vector<std::string>& paths);

  // Chooses the model of task times by its errors for left-out runs, and scales the bounds
  // by these errors. Needs three or more different settings. Learns each model a few times.
  void CompareModels();

  // Splits stages by probe runs ([GB] 5.3.1), by a part of the stage's name. A probe run ends a
  // stage after the operators whose time does not depend on stated sizes. The remaining time of the
  // stage is proportional to the size of the shuffle that it writes. Fails with InvalidArgument,
  // which names the option and the remedy.
  absl::Status Split(const std::map<std::string, SparkRun>& probes);

  // Parameters of the program that are not given keep their values of the first run. Fails like
  // SettingsOf(), SparkParameters::Check() and StatedFactors().
  absl::StatusOr<ModelledRun> With(const Settings& changes, double data_factor,
                                   const durations::Parameters& parameters,
                                   const StatedSizes& sizes = {}) const;

 private:
  // The conditions of a run.
  struct Conditions {
    phases::Settings settings;
    double data_factor = 1;
    durations::Parameters parameters;
  };
  struct Prediction {
    ModelledRun run;
    std::size_t like = 0;  // index of the most similar run
    phases::RunEstimate expected;
  };
  SparkRuns(std::vector<SparkRun> runs, phases::ManyRuns models, SparkParameters parameters)
      : runs_(std::move(runs)), models_(std::move(models)), parameters_(std::move(parameters)) {}
  // Learns from runs without repetitions, which the result contains. If it fails, `runs` are
  // unchanged. Errors name no logs.
  static absl::StatusOr<SparkRuns> LearnFrom(std::vector<SparkRun>& runs);
  absl::StatusOr<Prediction> Predict(const Conditions& asked, const StatedSizes& sizes,
                                     TaskModelKind kind) const;
  // Returns true if settings and parameters are equal, and the sizes of the data almost.
  static bool AreEqual(const Conditions& one, const Conditions& other);
  // Adds the errors for the runs `left_out` of models that are learnt from the other runs.
  void AddErrors(const std::vector<std::size_t>& left_out);
  LeftOutErrors& ErrorsOf(TaskModelKind kind) { return errors_[static_cast<std::size_t>(kind)]; }
  const LeftOutErrors& ErrorsOf(TaskModelKind kind) const {
    return errors_[static_cast<std::size_t>(kind)];
  }
  // Adds a remark for each probed stage that writes no shuffle of `sizes`.
  void AddUnusedProbes(const SparkRun& base, const StatedSizes& sizes,
                       const durations::Parameters& parameters, ModelledRun& other) const;
  // Returns a remark on the chosen model; empty if the models were not compared for equal runs.
  std::string RemarkOnModel() const;

  std::vector<SparkRun> runs_;
  std::vector<Conditions> conditions_;  // of each run; data are relative to the first run
  phases::ManyRuns models_;
  TaskModelKind chosen_ = TaskModelKind::kPhases;
  std::array<LeftOutErrors, 2> errors_;
  // By stage signature, the share of the task time that a probe run has.
  std::map<std::string, double> probed_;
  SparkParameters parameters_;
  // remarks about runs that were excluded or differ much from the first run
  std::vector<std::string> remarks_;
};

// Repeats stages of a plan more or less often. `works` identifies the work of each stage. `stages`
// are in the order in which they ran. `counts` is the requested number of stages by work. An added
// stage has the name of the last stage of its work followed by (+1), (+2) and so on. Pure.
std::vector<PlannedStage> Repeated(std::vector<PlannedStage> stages,
                                   const std::vector<std::uint64_t>& works,
                                   const std::map<std::uint64_t, std::uint32_t>& counts);

}  // namespace tidemark::whatif
