// Models of a Spark application, learnt from its runs. They estimate a run with other settings,
// other numbers of partitions or more data.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "master/forecast/durations/parameters.h"
#include "spark/measured_stages.h"
#include "tidemark/plan.h"
#include "whatif/phases/many_runs.h"
#include "whatif/phases/settings.h"
#include "whatif/phases/what_if.h"
#include "whatif/spark_parameters.h"
#include "whatif/spark_run.h"

namespace tidemark::whatif {

// Values of settings by name, as in spark-submit --conf.
using Settings = std::map<std::string, std::string>;

// Standard deviation of ln(duration) if a setting has a value that no model covers. Chosen by hand.
inline constexpr double kUnmodelledDeviation = 0.3;

// The settings of a run, and its settings with changes.
struct SettingsPair {
  phases::Settings ran;
  phases::Settings other;
  // Remarks for a person on values that Spark allows and no model covers: of the run, and of the
  // changes. A change to the value that the run had has no effect and no remark.
  std::vector<std::string> of_run;
  std::vector<std::string> of_changes;
};

// Applies `changes` to the settings of the run. Errors name the setting: not a setting of Spark, a
// value that Spark rejects, more than kSlotsMax slots, an unknown version of Spark, or an unknown
// number of executors.
absl::StatusOr<SettingsPair> SettingsOf(const spark::MeasuredStages& measured,
                                        const Settings& changes);

// A run with other settings, as the models predict it.
struct ModelledRun {
  Plan plan;                    // with the task times that the models predict
  std::uint32_t slots = 1;      // on which it would run; the plan has the slots of its task times
  std::uint32_t executors = 0;  // that provide these slots; 0 if unknown
  double cores = 0;             // cores of these executors; 0 if unknown
  // Standard deviation of ln(duration) for effects that the models do not cover.
  double deviation = 0;
  std::string binding;               // the component that takes most of the time; empty if unknown
  std::vector<std::string> remarks;  // for a person, on effects that the models do not cover
};

// Models from one run.
class SparkRunModels {
 public:
  // `run` outlives the models. Fails as SettingsOf() does, and with FailedPrecondition if the log
  // lacks the counters to learn from.
  static absl::StatusOr<SparkRunModels> Learn(const SparkRun& run);

  // Fails as SettingsOf() does.
  absl::StatusOr<ModelledRun> With(const Settings& changes) const;

 private:
  SparkRunModels(const SparkRun& run, phases::WhatIf models)
      : run_(run), models_(std::move(models)) {}

  const SparkRun& run_;
  phases::WhatIf models_;
};

// Models from several runs of an application.
class SparkRuns {
 public:
  // Questions are about the first run. A run that is given twice (IsSameRun()) counts once. A run
  // without a stage of the first belongs to another program and is excluded. Fails as SettingsOf()
  // and SparkRunModels::Learn() do; errors name the log of the run, from `paths`.
  static absl::StatusOr<SparkRuns> Learn(std::vector<SparkRun> runs,
                                         const std::vector<std::string>& paths);

  // Parameters of the program that are not given keep their values of the first run. Fails as
  // SettingsOf() and SparkParameters::Check() do.
  absl::StatusOr<ModelledRun> With(const Settings& changes, double data_factor,
                                   const durations::Parameters& parameters) const;

 private:
  SparkRuns(std::vector<SparkRun> runs, phases::ManyRuns models, SparkParameters parameters)
      : runs_(std::move(runs)), models_(std::move(models)), parameters_(std::move(parameters)) {}

  std::vector<SparkRun> runs_;
  phases::ManyRuns models_;
  SparkParameters parameters_;
  std::vector<std::string> remarks_;  // on runs that were excluded, or differ much from the first
};

// Repeats stages of a plan more or less often. `works` identifies the work of each stage; `stages`
// are in the order in which they ran. `counts` is the requested number of stages by work. An added
// stage has the name of the last stage of its work with (+1), (+2) and so on. Pure.
std::vector<PlannedStage> Repeated(std::vector<PlannedStage> stages,
                                   const std::vector<std::uint64_t>& works,
                                   const std::map<std::uint64_t, std::uint32_t>& counts);

}  // namespace tidemark::whatif
