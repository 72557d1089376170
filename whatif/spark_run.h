// A run of a Spark application or a MapReduce job, read from a log, as a plan that can run again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "hadoop/history_log.h"
#include "master/store/event_log.h"
#include "spark/log_reader.h"
#include "spark/measured_stages.h"
#include "tidemark/event.h"
#include "tidemark/plan.h"
#include "whatif/phases/past_stage.h"

namespace tidemark::whatif {

// The events of a job from a Spark event log, the history file of a MapReduce job, or the log of a
// master. The format depends on the contents of the file, not on its name. All commands that answer
// from a log open it here. Not thread-safe.
class JobLog {
 public:
  // Unless null, `measured` receives the counters of a Spark event log, and must outlive the log.
  // Fails like hadoop::HistoryLog::Open() and spark::LogReader::Open(), and like
  // store::EventLogReader::Open() except with InvalidArgument.
  static absl::StatusOr<std::unique_ptr<JobLog>> Open(const std::string& path,
                                                      spark::MeasuredStages* measured = nullptr);

  // Returns the next event, or nullopt at the end. Fails with DataLoss if the remainder is damaged,
  // and otherwise like spark::LogReader::Next().
  absl::StatusOr<std::optional<Event>> Next();
  // Returns the next record, or nullopt at the end. Fails like store::EventLogReader::Next().
  // REQUIRES: of_master() is not null.
  absl::StatusOr<std::optional<store::LogRecord>> NextRecord();

  // Returns human-readable remarks on the log, which contain its path, one sentence each.
  // `rejected` is the number of events that a JobMonitor did not accept.
  std::vector<std::string> Remarks(std::uint64_t rejected) const;
  // Returns true if damaged records of a master's log have been skipped so far, or if a history
  // file or a Spark event log is damaged or truncated.
  bool has_damage() const {
    return !damages_.empty() || (history_ != nullptr && history_->has_damage()) ||
           (spark_ != nullptr && spark_->is_truncated());
  }
  // Returns null unless the log is a Spark event log.
  const spark::LogReader* spark() const { return spark_.get(); }
  // Returns null unless the log is the log of a master.
  const store::EventLogReader* of_master() const { return of_master_.get(); }

 private:
  std::string path_;
  std::unique_ptr<spark::LogReader> spark_;
  std::unique_ptr<hadoop::HistoryLog> history_;
  std::unique_ptr<store::EventLogReader> of_master_;
  std::vector<std::string> damages_;
};

// Returns true if `path` is a log that JobLog can read, or a file with an unsupported compression.
// Reads the beginning of a Spark event log.
bool IsEventLog(const std::string& path);

// Maximum number of slots.
inline constexpr std::uint32_t kSlotsMax = 1'000'000;

struct SparkRun {
  // One job with the stages that ran, their task times by warmth, and the number of slots of the
  // run. The times of a successful run are adjusted so that the plan ends when its last stage did.
  Plan plan;
  // By stage of the plan: Spark's number (the largest number if the stage has no signature), the
  // signature, which is equal in other runs, and the work, which is equal in repeated stages.
  std::vector<std::uint32_t> numbers;
  std::vector<std::string> signatures;
  std::vector<std::uint64_t> works;
  std::string application_id;  // Spark's id; empty if unknown
  spark::MeasuredStages measured;
  // Time from the start of the run to the end of its last stage. nullopt if the run did not
  // succeed.
  std::optional<absl::Duration> took;
  // Time from then until the run ended.
  absl::Duration ended_later;
  std::vector<std::string> remarks;  // JobLog::Remarks(), and remarks on impossible values
  bool is_damaged = false;           // JobLog::has_damage()
  // Set for a MapReduce job, which has a map and a reduce stage: MapReduceRun::reduce_fixed_share.
  std::optional<double> reduce_fixed_share;

  // Returns true for Spark's local mode, in which the driver runs the tasks.
  bool is_local() const { return application_id.starts_with("local-"); }
};

// Reads a run. Fails like JobLog::Open() and JobLog::Next(). Fails with InvalidArgument for more
// than PastRun::kStagesMax stages, and with FailedPrecondition if no task ended or no plan can be
// made of the stages.
absl::StatusOr<SparkRun> ReadSparkRun(const std::string& path);

// Returns true if both are the same run: one application with the same settings and task times.
bool IsSameRun(const SparkRun& one, const SparkRun& other);

// Returns the number of tasks of the stage per counted task. It exceeds 1 only if the stage has
// more tasks than are counted.
double TasksPerCounted(const SparkRun& run, std::size_t stage);
// Returns the stages with the counters of their tasks.
std::vector<phases::PastStage> CountedStages(const SparkRun& run);

// Returns when the plan would end on its own or on other slots, or nullopt if no estimate is
// possible.
std::optional<absl::Duration> EndOf(const Plan& plan, std::optional<std::uint32_t> slots = {});
// Multiplies the task times of a stage.
void StretchTasks(double factor, PlannedStage& stage);
// Multiplies all times of a plan.
void Stretch(double factor, Plan& plan);

}  // namespace tidemark::whatif
