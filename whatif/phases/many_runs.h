// Estimates the durations of stages with other settings, partitions or data, from several past runs
// of the same program.
//
// The phase models (task.h) describe the work of a task. Costs are learnt over the tasks of all
// runs (learn_costs.h). The models' errors at each run's settings correct the estimates
// (correction.h). First tasks of a stage on their slots, which load and compile its code, are
// corrected separately. The lag of a stage before its first task is corrected in the same way, from
// its mean over the runs. The run most similar to the scenario supplies the stages and their data
// sizes.
//
// With enough runs, an estimate of the whole run from the settings alone is also available
// (whole_runs.h). It has no model of stages, and so not the errors of one. If only the executors
// differ from past runs, these runs alone give the duration (scaling.h).
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
#include <vector>

#include "absl/status/statusor.h"
#include "whatif/phases/correction.h"
#include "whatif/phases/learn_costs.h"
#include "whatif/phases/past_stage.h"
#include "whatif/phases/scaling.h"
#include "whatif/phases/settings.h"
#include "whatif/phases/whole_runs.h"

namespace tidemark::phases {

struct RunScenario {
  Settings settings;
  // Factor on the data of the first run. If those are unknown, all runs are assumed to have had the
  // same amount.
  double data_factor = 1;
  std::vector<double> others = {};
  // By name of a stage: a factor on its fetched data in the similar run, for reasons outside of the
  // settings.
  std::map<std::string, double> fetched = {};
};

// An estimate of one stage.
struct StageEstimate {
  bool is_known = false;  // if false, the stage is unchanged
  double tasks = 1;
  // Means of the first tasks on their slots, and of all others.
  double fresh_task_seconds = 0;
  double task_seconds = 0;
  double lag_seconds = 0;  // as in PastStage; 0 if unchanged
};

// The resource that uses most of the time of processors and slots.
enum class Binding : std::uint8_t { kProcessor, kDisk, kNetwork, kTaskStarts };
// Returns a name for messages.
const char* NameOf(Binding binding);

struct RunEstimate {
  std::vector<StageEstimate> stages;   // in the order of the similar run
  double deviation = 0;                // standard deviation of ln(sum of these stages)
  std::optional<WholeEstimate> whole;  // empty with too few runs or no near one
  // From runs that differ in nothing but executors. It replaces the other estimates, unless it is
  // empty.
  std::optional<WholeEstimate> scaled;
  Binding binding = Binding::kProcessor;
  // Settings outside of the range of all runs, and costs that no run determines.
  std::vector<std::string> beyond;
  std::vector<Cost> unknown_costs;
};

class ManyRuns {
 public:
  // InvalidArgument if there is no run, no run has a stage with a task, or a counter is impossible.
  static absl::StatusOr<ManyRuns> Learn(std::vector<PastApplication> runs,
                                        const CostStatistics& prior);

  // Returns true if a stage of a run had as many tasks as a setting of partitions, so its tasks
  // would follow that setting.
  bool FollowsPartitions() const;

  // Returns the run with the nearest settings and data; the first of equal ones.
  std::size_t MostLike(const RunScenario& scenario) const;
  // REQUIRES: like < runs; `scenario` has as many others as the runs.
  RunEstimate On(std::size_t like, const RunScenario& scenario) const;

 private:
  // The times of a stage: the mean of its first tasks on their slots, of all others, and its lag.
  enum Time { kFresh, kWarm, kLag };
  static constexpr std::size_t kTimes = 3;
  using Times = std::array<double, kTimes>;  // seconds; 0 if missing
  struct KnownStage {
    Stage stage;
    Times times{};
    std::size_t id = 0;  // equal in every run
    std::string name;
    bool is_known() const { return times[kFresh] + times[kWarm] > 0; }
  };
  struct Run {
    Settings settings;
    double data_bytes = 0;  // 0 if unknown
    std::vector<double> others;
    SlotLoad load;  // load of a run of the same program; otherwise its `seconds` are 0
    std::vector<KnownStage> stages;
  };
  // A stage in the scenario, by the models alone.
  struct ScenarioStage {
    std::size_t place = 0;  // in the similar run
    std::size_t id = 0;
    Stage stage;
    Work work;       // work of a mean task
    Work more_work;  // the excess over a mean task of that run
    double task_seconds = 0;
    double warm_waves = 0;  // waves of tasks other than the first ones
  };
  // A part of the time of the run.
  struct Part {
    std::size_t place = 0;  // place of its stage
    Time time = kWarm;
    double modelled_seconds = 0;
    double waves = 0;  // consecutive repetitions
    TimeAt at;         // its key in the correction
  };
  ManyRuns() = default;
  static Times TimesOf(const PastStage& ran);
  static double& SecondsOf(StageEstimate& stage, Time time);
  void LearnLags();
  void FillDataBytes();
  // Returns the models' errors, and records the observed times in has_time_.
  std::vector<ObservedError> ObserveErrors(const LearntCosts& costs);
  // Returns the modelled time, for a stage whose tasks are modelled to take `task_seconds`.
  double Modelled(std::size_t stage, Time time, double task_seconds) const;
  // Returns the key of a time in the correction.
  static StageTime KeyOf(std::size_t stage, Time time);
  // Returns the key of the time, or of a related one if the time was never observed.
  StageTime ObservedKeyOf(std::size_t stage, Time time) const;
  static Stage Resized(const KnownStage& known, const Run& run, const RunScenario& scenario,
                       double data_factor);
  absl::Status LearnWholes();
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
  // By id of the stage.
  std::vector<std::array<bool, kTimes>> has_time_;
  std::vector<double> mean_lags_;            // over runs; 0 if a run with the stage had no lag
  std::vector<LearntCosts> costs_;           // one
  std::vector<Correction> correction_;       // one
  std::vector<std::vector<double>> levels_;  // LevelsOfWhole() of each run
  WholeRunModel wholes_;
};

}  // namespace tidemark::phases
