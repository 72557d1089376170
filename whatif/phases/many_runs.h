// Estimates the durations of stages with other settings, partitions or data, from several past runs
// of the same program.
//
// The phase models (task.h) describe the work of a task. Costs are learnt from the tasks of all
// runs (learn_costs.h). The models' errors at each run's settings correct the estimates
// (correction.h). First tasks of a stage on their slots, which load and compile its code, are
// corrected separately. The lag of a stage before its first task is corrected in the same way, from
// its mean over the runs. The run most similar to the scenario supplies the stages and their data
// sizes.
//
// With enough runs, an estimate of the whole run from the settings alone is also available
// (whole_runs.h). It has no model of stages, and so not the errors of one. If only the executors
// differ from past runs, these runs alone give the duration (whole_runs.h). A second model of the
// task times, the black box of [GB], knows only partitions, cores and memory (black_box.h).
//
//     const auto models = ManyRuns::Learn(runs, UsualCosts());
//     const std::size_t like = models->MostLike({.settings = other, .data_factor = 2});
//     const auto estimate = models->On(like, {.settings = other, .data_factor = 2});
//
// Pure, deterministic, thread-safe when const.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "whatif/gray_box/black_box.h"
#include "whatif/phases/correction.h"
#include "whatif/phases/learn_costs.h"
#include "whatif/phases/past_stage.h"
#include "whatif/phases/settings.h"
#include "whatif/phases/whole_runs.h"

namespace tidemark::phases {

struct RunScenario {
  Settings settings;
  // Factor on the data of the first run. If data sizes are unknown, all runs are assumed to have
  // had the same amount.
  double data_factor = 1;
  std::vector<double> others = {};
  // By stage name, a factor on the data fetched in the similar run, for reasons other than the
  // settings.
  std::map<std::string, double> fetched = {};
  // By stage name, a factor on the data that the stage passes to its output.
  std::map<std::string, double> written = {};
  // By stage name, a factor on the modelled task times, for stages that a probe run splits.
  std::map<std::string, double> slowed = {};
};

// An estimate of one stage.
struct StageEstimate {
  bool is_known = false;  // if false, the stage is unchanged
  double tasks = 1;
  // Mean times of the first tasks on their slots, and of all other tasks.
  double fresh_task_seconds = 0;
  double task_seconds = 0;
  double lag_seconds = 0;  // as in PastStage; 0 if unchanged
};

// The resource that takes most of the time of processors and slots.
enum class Binding : std::uint8_t { kProcessor, kDisk, kNetwork, kTaskStarts };
// Returns a name for messages.
const char* NameOf(Binding binding);

// Task times according to the black box.
struct BlackBoxEstimate {
  std::vector<double> task_seconds;  // by stage, as in RunEstimate; 0 if the stage is unknown
  double deviation = 0;              // as in RunEstimate
};

struct RunEstimate {
  std::vector<StageEstimate> stages;   // in the order of the similar run
  double deviation = 0;                // standard deviation of ln(sum of these stages)
  std::optional<WholeEstimate> whole;  // empty if there are too few runs or no near run
  // Estimate from runs that differ only in executors. Unless empty, it replaces the other
  // estimates.
  std::optional<WholeEstimate> scaled;
  // Unset if a stage has fewer than kBlackBoxRunsMin runs or a predicted time below zero.
  std::optional<BlackBoxEstimate> black_box;
  Binding binding = Binding::kProcessor;
  // Settings outside the range of all runs, and costs that no run determines.
  std::vector<std::string> beyond;
  std::vector<Cost> unknown_costs;
};

class ManyRuns {
 public:
  // The black box needs a run for each of its four features, and one more.
  static constexpr std::size_t kBlackBoxRunsMin = 5;

  // Fails with InvalidArgument if there is no run, if no run has a stage with a task, or if a
  // counter is impossible.
  static absl::StatusOr<ManyRuns> Learn(std::vector<PastApplication> runs,
                                        const CostStatistics& prior);

  // Returns true if a stage of a run had as many tasks as a partition setting, so that its tasks
  // would follow that setting.
  bool FollowsPartitions() const;

  // Returns the run with the nearest settings and data, or the first of several.
  std::size_t MostLike(const RunScenario& scenario) const;
  // REQUIRES: like < number of runs, and `scenario` has as many `others` as the runs.
  RunEstimate On(std::size_t like, const RunScenario& scenario) const;

 private:
  // The times of a stage: the mean of its first tasks on their slots, the mean of all other tasks,
  // and its lag.
  enum Time { kFresh, kWarm, kLag };
  static constexpr std::size_t kTimes = 3;
  using Times = std::array<double, kTimes>;  // seconds; 0 if missing
  struct KnownStage {
    Stage stage;
    Times times{};
    double mean_seconds = 0;  // of all its tasks
    double slot_share = 1;    // as in PastStage
    std::size_t id = 0;       // equal in every run
    std::string name;
    bool is_known() const { return times[kFresh] + times[kWarm] > 0; }
  };
  struct Run {
    Settings settings;
    double data_bytes = 0;  // 0 if unknown
    std::vector<double> others;
    SlotLoad load;  // load of a run of the same program; `seconds` is 0 for other programs
    std::vector<KnownStage> stages;
  };
  // A stage in the scenario, according to the models alone.
  struct ScenarioStage {
    std::size_t place = 0;  // index in the similar run
    std::size_t id = 0;
    Stage stage;
    Work work;          // work of a mean task
    Work more_work;     // excess of the longest task over a mean task of that run
    double slowed = 1;  // as in RunScenario
    double task_seconds = 0;
    double warm_waves = 0;  // waves of tasks, excluding first tasks
  };
  // A part of the time of the run.
  struct Part {
    std::size_t place = 0;  // index of its stage
    Time time = kWarm;
    double modelled_seconds = 0;
    double waves = 0;  // consecutive repetitions
    TimeAt at;         // key in the correction
  };
  ManyRuns() = default;
  static Times TimesOf(const PastStage& ran);
  static double& SecondsOf(StageEstimate& stage, Time time);
  void LearnLags();
  void FillDataBytes();
  // Returns the models' errors, and records the observed times in has_time_.
  std::vector<ObservedError> ObserveErrors(const LearntCosts& costs);
  // Returns the modelled time for a stage whose tasks are modelled to take `task_seconds`.
  double Modelled(std::size_t stage, Time time, double task_seconds) const;
  // Returns the key of a time in the correction.
  static StageTime KeyOf(std::size_t stage, Time time);
  // Returns the key of the time, or of a related one if the time was never observed.
  StageTime ObservedKeyOf(std::size_t stage, Time time) const;
  static Stage Resized(const KnownStage& known, const Run& run, const RunScenario& scenario,
                       double data_factor);
  absl::Status LearnWholes();
  void LearnBlackBoxes();
  std::optional<BlackBoxEstimate> BlackBoxOn(const std::vector<ScenarioStage>& stages,
                                             const RunScenario& scenario, std::size_t count) const;
  std::optional<WholeEstimate> Scaled(const RunScenario& scenario) const;
  double DataBytes(const RunScenario& scenario) const {
    return scenario.data_factor * runs_[0].data_bytes;
  }
  std::vector<std::string> Beyond(const RunScenario& scenario) const;
  std::vector<ScenarioStage> ScenarioStages(const Run& run, const RunScenario& scenario) const;
  Binding BindingIn(const std::vector<ScenarioStage>& stages) const;
  // Adds costs that no run determines, and returns the seconds by which they change the run.
  double AddUnknownCosts(const std::vector<ScenarioStage>& stages, RunEstimate& estimate) const;
  std::vector<Part> PartsOf(const std::vector<ScenarioStage>& stages,
                            const RunScenario& scenario) const;
  // Sets the times of `estimate` and returns the seconds of each part over all its waves.
  static std::vector<double> SetTimes(const std::vector<Part>& parts,
                                      const std::vector<double>& log_errors, RunEstimate& estimate);

  std::vector<Run> runs_;
  // By stage ID.
  std::vector<std::array<bool, kTimes>> has_time_;
  std::vector<double> mean_lags_;            // mean over runs; 0 if a run with the stage had no lag
  std::vector<LearntCosts> costs_;           // exactly one element
  std::vector<Correction> correction_;       // exactly one element
  std::vector<std::vector<double>> levels_;  // LevelsOfWhole() of each run
  WholeRunModel wholes_;
  std::map<std::size_t, gray_box::BlackBox> boxes_;  // by stage ID
};

struct StageChange {
  double times = 1;      // factor on the time of a task
  double tasks = 1;      // factor on the number of tasks
  double deviation = 0;  // standard deviation of ln(times)
  // costs that affect the change but are not determined by the run
  std::vector<Cost> unknown_costs;
};

// Estimates the durations of the stages of a run with other settings.
//
// The result is a factor on the measured task times, which is 1 if nothing changes. Errors that the
// models make in both cases cancel out.
//
//     const auto models = WhatIf::Learn(stages, settings, UsualCosts());
//     const StageChange change = models->On(0, other_settings);
//
// Pure, deterministic, and thread-safe when const.
class WhatIf {
 public:
  // `settings` are the settings of the run. Fails with InvalidArgument if no stage has a task or a
  // counter is impossible.
  static absl::StatusOr<WhatIf> Learn(std::vector<PastStage> stages, const Settings& settings,
                                      const CostStatistics& prior);

  // For a stage without tasks, returns no change and a wide deviation. REQUIRES: stage < number of
  // stages.
  StageChange On(std::size_t stage, const Settings& settings) const;
  const LearntCosts& costs() const { return costs_; }

 private:
  struct Known {
    Stage stage;
    double mean_seconds = 0;  // mean time of its tasks; 0 if the stage is unknown
  };
  WhatIf(std::vector<Known> stages, const Settings& settings, LearntCosts costs)
      : stages_(std::move(stages)), settings_(settings), costs_(std::move(costs)) {}

  std::vector<Known> stages_;
  Settings settings_;
  LearntCosts costs_;
};

}  // namespace tidemark::phases
