// Translates Spark events into the events that the driver of the application would have sent.
//
// Spark's event            events of Tidemark, in the order of the log
//
//   ApplicationStart        JobOpened
//   ExecutorAdded           ExecutorOpened; earlier executors are opened after JobOpened
//   ExecutorRemoved         ExecutorClosed
//   SQLExecutionStart       GroupOpened
//   SQLAdaptiveExecutionUpdate  GroupOpened with the stages that are planned now
//   JobStart                GroupOpened outside SQL; StageOpened of each new stage
//   StageSubmitted          StageOpened with its attempt and time
//   TaskStart, TaskEnd      TaskHeartbeat with the totals of the task, AttemptChanged
//   StageCompleted          StageClosed
//   JobEnd                  StageOpened as skipped for stages that never ran; StageClosed for
//                           all other stages; GroupClosed outside SQL
//   SQLExecutionEnd         GroupClosed
//   ApplicationEnd          JobClosed, after the ends of queries and jobs that Spark logs later
//
// Times are the driver's and never decrease. If its clock is set back, later times are moved
// forward by the same amount. docs/internals/spark-logs.md documents the other events. The index of
// a task is its partition if the log has it, otherwise Spark's index, which is dense in each
// attempt at a stage.
//
// Translation never fails: missing fields stay unknown. An event that contradicts earlier events,
// such as a task of a stage that was never opened, is counted and dropped. Not thread-safe. For any
// log, kStagesMax and similar limits bound the memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "spark/event_scanner.h"
#include "spark/measured_stages.h"
#include "tidemark/event.h"

namespace tidemark::spark {

class Translator {
 public:
  // Limits of the state. A further entry replaces the oldest entry.
  static constexpr std::size_t kStagesMax = 100'000;
  static constexpr std::size_t kJobsMax = 1'000;
  static constexpr std::size_t kExecutionsMax = 10'000;
  static constexpr std::size_t kRunningTasksMax = 1'000'000;
  // Limits beyond which a new entry is dropped.
  static constexpr std::size_t kExecutorsMax = 100'000;
  static constexpr std::size_t kNamesMax = 100'000;
  static constexpr std::size_t kStagesOfJobMax = 20'000;

  // Receives each event and its time, which is never before the previous one.
  using Sink = absl::FunctionRef<void(absl::Time at, EventBody body)>;
  void Translate(const SparkEvent& event, Sink sink);
  // Reports the end of an application whose ApplicationEnd was read although some of its queries or
  // jobs have not ended. Otherwise does nothing. Must be called when the log has no more events.
  void Finish(Sink sink);
  // Records that events are missing here, such as the events of a lost file. Reports running
  // attempts as lost, since they may have ended in the gap.
  void Gap(Sink sink);
  // Sets whether Spark has compacted the following events, so that ended jobs are missing.
  void SetCompacted(bool is_compacted);

  // is_open() returns true once an event has been reported, and is_closed() once the application's
  // end has been reported.
  bool is_open() const { return is_open_; }
  bool is_closed() const { return is_closed_; }
  // Returns true once ApplicationEnd was read, even if the end has not been reported yet.
  bool has_ended() const { return end_.has_value(); }
  // Returns why events are no longer reported, or "" while they are reported.
  const std::string& fault() const { return fault_; }
  // Returns Spark's id, such as application_1481182872654_0030, or "" if unknown.
  const std::string& application_id() const { return application_.application_id; }
  // Returns the number of impossible records, such as tasks of stages that were never opened, or
  // events without essential fields.
  std::uint64_t contradictions() const { return contradictions_; }
  // How often the driver's clock was set. `by` and `at` describe the last change.
  struct ClockSteps {
    std::uint64_t times = 0;
    absl::Duration by;
    absl::Time at;
  };
  const ClockSteps& clock_set_back() const { return clock_set_back_; }
  const ClockSteps& clock_set_forward() const { return clock_set_forward_; }
  // Returns a lower bound on the number of missing events: starts missing from Spark's numbering of
  // tasks, and stages and executors that other events mention but none introduces.
  std::uint64_t missing_events() const { return missing_events_; }
  // Returns a lower bound on the number of missing ends of tasks. An end is missing if a stage
  // succeeded with fewer finished tasks than it has.
  std::uint64_t missing_ends() const { return missing_ends_; }
  // Returns the number of events whose kinds show no progress or are unknown.
  std::uint64_t unused_events() const { return unused_; }
  // Returns the number of stages and parents that were visited to find skipped stages.
  std::uint64_t steps() const { return steps_; }
  // Returns the largest number of tasks that the executors could run at once.
  std::uint64_t slots_max() const { return slots_max_; }
  // stages() and groups() return the numbers of stages and of groups (queries, and jobs outside
  // queries) so far.
  std::uint64_t stages() const { return opened_stages_; }
  std::uint64_t groups() const { return opened_groups_; }

 private:
  static constexpr std::uint32_t kNoJob = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t kAttemptMax = 1'000'000;  // largest attempt at a stage
  enum class StageState : std::uint8_t { kPlanned, kRunning, kBroken, kDone, kSkipped };
  struct StageRecord {
    StageOpened opened;  // as last reported
    StageState state = StageState::kPlanned;
    bool are_parents_known = false;    // false in logs of Spark before 1.4
    bool is_by_partition = false;      // whether the index of a task is its partition
    std::uint32_t job = 0;             // the first job that lists the stage
    std::uint32_t jobs = 0;            // number of running jobs that list the stage
    std::uint32_t attempts_ahead = 0;  // reported attempt minus Spark's attempt
    std::uint32_t finished = 0;        // tasks that finished since its last submission
  };
  struct Group {  // A SQL execution, or a job outside SQL.
    std::string name;
    std::string plan;                                // NameOfPlan(), in SQL
    std::string identity;                            // equal in every run of the application
    std::string failure;                             // failure of its last failed job
    bool has_start = false;                          // whether its SQLExecutionStart was read
    std::vector<std::uint32_t> planned_task_counts;  // as last reported
    absl::flat_hash_map<std::uint64_t, std::uint32_t> stages;  // number of stages by work
  };
  struct JobRecord {
    std::vector<std::uint32_t> stages;
    std::optional<std::uint64_t> execution;  // nullopt if the job is its own group
    bool has_reported_skips = true;  // whether SkipAvailable() ran since its last submitted stage
    std::int64_t steps = 0;          // cost of SkipAvailable(): number of stages and their parents
    std::uint64_t missing_before = 0;  // missing events when it started
  };
  struct End {  // end of the application
    absl::Time at;
    std::int64_t exit_code = 0;
    bool has_exit_code = false;  // only Spark 4 reports an exit code
  };
  struct ExecutorRecord {
    std::uint32_t number = 0;
    std::uint32_t slots = 0;
    bool is_gone = false;
  };

  // Threads of the driver that read its clock. The readings of one thread do not decrease unless
  // the clock is set back. A busy thread may log an event after later events of other threads. The
  // starts and the ends of tasks count as two threads, since starts may be logged after later ends.
  enum class Reader : std::uint8_t { kScheduler, kStarts, kEnds, kOther };
  struct Clock {  // readings of one thread, moved forward by set_back_
    absl::Time latest = absl::InfinitePast();
    std::optional<absl::Time> behind;  // previous time, if it was far behind the latest
  };
  struct Running {
    AttemptId attempt;
    absl::Time start;
  };

  absl::Time Now() const { return now_ == absl::InfinitePast() ? absl::UnixEpoch() : now_; }
  absl::Time Instant(Reader reader, const nlohmann::json& object, const char* name);
  absl::Time PastInstant(const nlohmann::json& object, const char* name) const;
  bool IsSetBack(Clock& clock, absl::Time& at);
  void FindStepBack(const TaskEnd& end);
  void FindStepForward(const TaskEnd& end);
  bool OpenApplication(Sink sink);

  void ApplicationStart(const nlohmann::json& event, Sink sink);
  void ApplicationEnd(const nlohmann::json& event, Sink sink);
  void ExecutorAdded(const nlohmann::json& event, Sink sink);
  void ExecutorRemoved(const nlohmann::json& event, Sink sink);
  void ProfileAdded(const nlohmann::json& event, Sink) { task_slots_.OnProfile(event); }
  void EnvironmentUpdate(const nlohmann::json& event, Sink sink);
  void ExecutionStart(const nlohmann::json& event, Sink sink);
  void ExecutionUpdate(const nlohmann::json& event, Sink sink);
  void ExecutionEnd(const nlohmann::json& event, Sink sink);
  void JobStart(const nlohmann::json& event, Sink sink);
  void JobEnd(const nlohmann::json& event, Sink sink);
  void StageSubmitted(const nlohmann::json& event, Sink sink);
  void StageCompleted(const nlohmann::json& event, Sink sink);
  void TaskStart(const nlohmann::json& event, Sink sink);
  void TaskEnded(const TaskEnd& end, const nlohmann::json& event, Sink sink);

  std::vector<std::string> OpenGroups() const;
  JobClosed FinalState() const;
  void CloseIfAllEnded(Sink sink);
  void GroupEnded(const GroupClosed& closed, const std::string& failure);
  std::uint32_t OccurrenceOf(const std::string& name);
  StageRecord* FindStage(const nlohmann::json& event);
  StageRecord& OpenStage(std::uint32_t number, const nlohmann::json& info, std::uint32_t job,
                         Group& group, const std::string& pool, Sink sink);
  void SkipAvailable(JobRecord& job, Sink sink);
  void Run(std::uint32_t attempt, StageRecord& stage, Sink sink);
  void Skip(StageRecord& stage, Sink sink);
  void Close(StageRecord& stage, JobOutcome outcome, std::string why, Sink sink);
  void EndStages(const JobRecord& ended, bool has_succeeded, Sink sink);
  void NoteStart(std::uint64_t task);
  void NoteEndWithoutStart(std::uint64_t task);
  void NoteRunning(StageRecord& stage, std::uint32_t attempt, Sink sink);
  std::optional<AttemptChanged> AttemptIn(const nlohmann::json& event, Sink sink);
  void ReportStart(AttemptChanged changed, absl::Time at, Sink sink);

  JobOpened application_;
  bool has_started_ = false;
  bool is_open_ = false;
  bool is_closed_ = false;
  std::string fault_;
  absl::Time first_ = absl::InfinitePast();  // first time in the log
  absl::Time now_ = absl::InfinitePast();
  std::optional<absl::Time> implausible_;  // previous time, if it was too late
  std::array<Clock, 4> clocks_;            // by Reader
  absl::Duration set_back_;                // total correction added to later readings
  ClockSteps clock_set_back_;
  ClockSteps clock_set_forward_;
  std::vector<ExecutorOpened> waiting_executors_;
  absl::flat_hash_map<std::string, ExecutorRecord> executors_;
  std::uint64_t slots_ = 0;
  std::uint64_t slots_max_ = 0;
  TaskSlots task_slots_;
  absl::flat_hash_map<std::string, std::uint32_t> occurrences_;
  std::map<std::uint64_t, Group> executions_;
  std::set<std::uint64_t> ended_executions_;
  std::map<std::uint32_t, JobRecord> jobs_;
  std::map<std::uint32_t, StageRecord> stages_;
  absl::flat_hash_map<std::uint64_t, Running> running_;  // by Spark's id of the task attempt
  // Spark numbers task attempts consecutively. These are the numbers of the first start that was
  // read, and of the next expected start.
  std::optional<std::uint64_t> first_task_;
  std::uint64_t next_task_ = 0;
  bool is_compacted_ = false;
  bool is_job_missing_ = false;  // whether a missing job has been counted since the last JobStart
  absl::flat_hash_set<std::string> missing_executors_;
  std::uint64_t missing_events_ = 0;
  std::uint64_t missing_ends_ = 0;
  std::string failure_;  // failure of the last query, or job outside queries, to end
  std::optional<End> end_;
  std::string stopped_;  // group that failed after ApplicationEnd because Spark stopped it
  std::uint64_t opened_stages_ = 0;
  std::uint64_t opened_groups_ = 0;
  // Number of steps that SkipAvailable() may still take. Each event adds some. While the number is
  // negative, skipped stages are reported later.
  std::int64_t steps_left_ = 10'000;
  std::uint64_t steps_ = 0;
  std::uint64_t contradictions_ = 0;
  std::uint64_t unused_ = 0;
};

}  // namespace tidemark::spark
