// What stages would take with other settings, other numbers of partitions or more data, from
// several runs of the same program.
//
// The phase models (task.h) say what a task would do; costs are learnt over the tasks of all runs
// (learn_costs.h); what they get wrong is corrected by how wrong they were at each run's settings
// (correction.h), apart for the first tasks of a stage on their slots, which load and compile its
// code, and for all others. How long a stage waits for its first task is corrected likewise, from
// its mean over the runs. The run that is most like what is asked for lends its stages and the
// sizes of their data.
//
// Beside that stands what the settings alone say of whole runs, where there are enough of them: it
// knows nothing of stages, and so does not make their mistakes.
//
//   const auto models = ManyRuns::Learn(runs, UsualCosts());
//   const std::size_t like = models->MostLike({.settings = other, .data_factor = 2});
//   const auto expected = models->On(like, {.settings = other, .data_factor = 2});
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
#include "whatif/phases/ran_application.h"
#include "whatif/phases/settings.h"
#include "whatif/phases/what_if.h"
#include "whatif/phases/whole_runs.h"

namespace tidemark::phases {

struct Asked {
  Settings settings;
  // Over the data of the first run. Where that does not tell them, all runs are taken to have had
  // as much.
  double data_factor = 1;
  std::vector<double> others = {};
  // By name of a stage: so many times what it fetched in the run that it is like, for reasons that
  // the settings do not tell.
  std::map<std::string, double> fetched = {};
};

// Of one stage.
struct ExpectedStage {
  bool is_known = false;  // otherwise nothing is: the stage is as it was
  double tasks = 1;
  // Of the mean of its first tasks on their slots, and of all others.
  double fresh_task_seconds = 0;
  double task_seconds = 0;
  double lag_seconds = 0;  // as RanStage's; 0: as it was
};

// What most of the processors' and slots' time goes to.
enum class Binding : std::uint8_t { kProcessor, kDisk, kNetwork, kTaskStarts };
const char* NameOf(Binding binding);  // for people

struct ExpectedRun {
  std::vector<ExpectedStage> stages;   // as those of the run that it is like
  double deviation = 0;                // of the log of the whole, as these stages make it up
  std::optional<ExpectedWhole> whole;  // empty: too few runs, or none of them near
  Binding binding = Binding::kProcessor;
  // For people: settings beyond those of all runs, and costs that no run tells.
  std::vector<std::string> beyond;
  std::vector<Cost> untold;
};

class ManyRuns {
 public:
  // InvalidArgument: no run, none with a stage that has a task; counters that cannot be.
  static absl::StatusOr<ManyRuns> Learn(std::vector<RanApplication> runs,
                                        const CostStatistics& prior);

  // Whether any stage of any run had as many tasks as partitions were set, so that it would have
  // others with other partitions.
  bool FollowsPartitions() const;

  // The run whose settings and data are nearest; the first of equal ones.
  std::size_t MostLike(const Asked& asked) const;
  // REQUIRES: like < runs; as many others as were learnt from.
  ExpectedRun On(std::size_t like, const Asked& asked) const;

 private:
  // Of a stage: the mean of its first tasks on their slots, of all others, and its lag.
  enum Time { kFresh, kWarm, kLag };
  static constexpr std::size_t kTimes = 3;
  using Times = std::array<double, kTimes>;  // seconds; 0: there was none
  struct Known {
    Stage stage;
    Times times{};
    std::size_t id = 0;  // the same in all runs
    std::string name;
    bool is_known() const { return times[kFresh] + times[kWarm] > 0; }
  };
  struct Run {
    Settings settings;
    double data_bytes = 0;  // 0: not known
    std::vector<double> others;
    double seconds = 0;
    std::vector<Known> stages;
  };
  // A stage at the settings that are asked about, as the models alone have it.
  struct OtherStage {
    std::size_t place = 0;  // among those of the run that it is like
    std::size_t id = 0;
    Stage stage;
    Work work;                // of a mean task
    Work more_work;           // than a mean task of that run had
    double task_seconds = 0;  // of it
    double warm_waves = 0;    // of tasks that are not the first on their slots
  };
  // A time that is part of that of the run.
  struct Part {
    std::size_t place = 0;  // of its stage
    Time time = kWarm;
    double modelled_seconds = 0;
    double waves = 0;  // so many of it after one another
    TimeAt at;         // by which the correction knows it
  };
  ManyRuns() = default;
  static Times TimesOf(const RanStage& ran);
  static double& SecondsOf(ExpectedStage& stage, Time time);
  void LearnLags();
  void CompareData();
  // Notes which times were seen, too.
  std::vector<SeenError> SeeErrors(const LearntCosts& costs);
  // What the models say of a time of a stage whose tasks they say to take `task_seconds`.
  double Modelled(std::size_t stage, Time time, double task_seconds) const;
  // By which the correction knows a time of a stage.
  static StageTime Named(std::size_t stage, Time time);
  // The same, or else another that tells it.
  StageTime SeenAs(std::size_t stage, Time time) const;
  static Stage Resized(const Known& known, const Run& run, const Asked& asked, double data_factor);
  absl::Status LearnWholes();
  double DataBytes(const Asked& asked) const { return asked.data_factor * runs_[0].data_bytes; }
  std::vector<std::string> Beyond(const Asked& asked) const;
  std::vector<OtherStage> OtherStages(const Run& run, const Asked& asked) const;
  Binding BindingIn(const std::vector<OtherStage>& stages) const;
  // Returns the seconds that they change the run by.
  double NameUntold(const std::vector<OtherStage>& stages, ExpectedRun& expected) const;
  std::vector<Part> PartsOf(const std::vector<OtherStage>& stages, const Asked& asked) const;
  // Returns the seconds of each part, all its waves.
  static std::vector<double> SetTimes(const std::vector<Part>& parts,
                                      const std::vector<double>& log_errors, ExpectedRun& expected);

  std::vector<Run> runs_;
  // By id of the stage.
  std::vector<std::array<bool, kTimes>> has_seen_;
  std::vector<double> mean_lags_;       // over runs; 0: it did not wait in all that had it
  std::vector<LearntCosts> costs_;      // one
  std::vector<Correction> correction_;  // one
  WholeRuns wholes_;
};

}  // namespace tidemark::phases
