// A run of an application of Spark as a plan: what if it ran again, elsewhere, or otherwise set?
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "spark/measured_stages.h"
#include "tidemark/plan.h"
#include "whatif/phases/settings.h"
#include "whatif/phases/what_if.h"

namespace tidemark::cli {

// Returns true if there is an event log at `path`, of Spark or of a master, or a compressed file
// that cannot be read. Reads its beginning.
bool IsEventLog(const std::string& path);

struct SparkRun {
  // One job with the stages that ran, their task times by warmth, and as many slots as it had; of a
  // run that succeeded these are stretched, so that the plan as it is ends with the run's last
  // stage.
  Plan plan;
  // Spark's, of its stages; of one without a signature, no stage's.
  std::vector<std::uint32_t> numbers;
  std::vector<std::string> signatures;  // of its stages; the same in other runs
  std::string application_id;           // as Spark calls it; empty: not known
  std::vector<std::uint64_t> works;     // of its stages: what they do, however often
  spark::MeasuredStages measured;
  // From its start to the end of its last stage; empty: it did not succeed.
  std::optional<absl::Duration> took;
  std::vector<std::string> remarks;  // RemarksOn() the log
};
// Errors: those of spark::LogReader; FailedPrecondition: no task of it has ended, or
// no plan can be made of its stages.
absl::StatusOr<SparkRun> ReadSparkRun(const std::string& path);

// Whether both are of the log of one run: the same application, whose tasks took the same times.
bool IsSameRun(const SparkRun& one, const SparkRun& other);

// When the plan would end; empty: it cannot be estimated.
std::optional<absl::Duration> EndOf(const Plan& plan);
// All its times.
void Stretch(double factor, Plan& plan);

// The run with other settings of Spark.
struct OtherRun {
  Plan plan;  // its task times are in the form that the models of phases expect
  // Slots on which it would run; the plan has the slots on which it was measured.
  std::uint32_t slots = 1;
  std::uint32_t executors = 0;  // that have these
  double cores = 0;             // the cores of these executors; 0 if they are unknown
  // Of the log of a factor on the whole of it, for what the models do not know.
  double deviation = 0;
  std::string binding;               // what most of its time would go to; empty: not known
  std::vector<std::string> remarks;  // for people: what they do not know
};

// Standard deviation of the log of the time where a setting has a value that no model knows. Chosen
// by hand.
inline constexpr double kUnmodelledDeviation = 0.3;

// The measured run, and the estimated run with `changes`.
struct SettingsPair {
  phases::Settings ran;
  phases::Settings other;
  // For people: values of the run, and settings and values of `changes`, that Spark allows and no
  // model covers.
  std::vector<std::string> of_run;
  std::vector<std::string> of_changes;
};

// Errors, which name the setting: one that is not Spark's, a value that Spark rejects, more than
// 1,000,000 slots, a version of Spark or a number of executors that the log does not have.
absl::StatusOr<SettingsPair> SettingsOf(const spark::MeasuredStages& measured,
                                        const std::map<std::string, std::string>& changes);
// Adds the remarks on what no model knows to the answer, and widens its interval.
void AddUnmodelled(const SettingsPair& settings, OtherRun& other);
// Whether another number of partitions is set.
bool ArePartitionsOthers(const SettingsPair& settings);
// Tasks that a stage of it had for each whose counters are kept: above 1 where those are as many as
// are kept at most.
double TasksForEachCounted(const SparkRun& run, std::size_t stage);
// Its stages with the counters of their tasks.
std::vector<phases::RanStage> StagesOf(const SparkRun& run);
// The slots that it had, unless there would be other executors.
std::uint32_t SlotsWith(const SparkRun& run, const SettingsPair& settings);
// FailedPrecondition: what the log lacks, so that no models could be learnt from it, and what to
// do.
absl::Status NothingToLearn(const SparkRun& run, const absl::Status& why);
// For people; empty: there are none.
std::string RemarkOnUntold(const std::vector<phases::Cost>& untold);

// What one run tells of other settings.
class SparkRunModels {
 public:
  // `run` outlives it. Errors: those of SettingsOf() and NothingToLearn().
  static absl::StatusOr<SparkRunModels> Learn(const SparkRun& run);

  // `changes`: settings as of spark-submit --conf. Errors: those of SettingsOf().
  absl::StatusOr<OtherRun> With(const std::map<std::string, std::string>& changes) const;

 private:
  SparkRunModels(const SparkRun& run, phases::WhatIf models)
      : run_(run), models_(std::move(models)) {}

  const SparkRun& run_;
  phases::WhatIf models_;
};

}  // namespace tidemark::cli
