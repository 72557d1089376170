// Translates the events of Spark to the events that the application's driver would have sent.
//
// What happens to a job, in the order of the log:
//
//   ApplicationStart        JobOpened
//   ExecutorAdded           ExecutorOpened; those from before the start follow it
//   ExecutorRemoved         ExecutorClosed
//   SQLExecutionStart       GroupOpened
//   SQLAdaptiveExecutionUpdate  GroupOpened with the stages that are planned now
//   JobStart                GroupOpened outside of SQL; StageOpened of each stage that is new
//   StageSubmitted          StageOpened with its attempt and instant
//   TaskStart, TaskEnd      TaskHeartbeat with the totals of the task, AttemptChanged
//   StageCompleted          StageClosed
//   JobEnd                  StageOpened: its stages that never ran are skipped; StageClosed of
//   those
//                           that ran; GroupClosed outside of SQL
//   SQLExecutionEnd         GroupClosed
//   ApplicationEnd          JobClosed, after the ends of queries and jobs that Spark writes behind
//   it
//
// Instants are the driver's, and never go back: if its clock is set back, later instants are moved
// forward by as much. docs/spark-logs.md documents the other events. A task's index is its
// partition if the log has it, else Spark's own index, which is dense in each attempt at its stage.
//
// Never fails: missing fields stay unknown. An event that contradicts earlier ones, such as a task
// of a stage that was never opened, is counted and left out. Memory: bounded by kStagesMax and
// similar limits, whatever the log contains. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "tidemark/event.h"

namespace tidemark::spark {

class Translator {
 public:
  // Of each that it remembers, beyond which the oldest is forgotten.
  static constexpr std::size_t kStagesMax = 100'000;
  static constexpr std::size_t kJobsMax = 1'000;
  static constexpr std::size_t kExecutionsMax = 10'000;
  static constexpr std::size_t kRunningTasksMax = 1'000'000;
  // And these are not remembered.
  static constexpr std::size_t kExecutorsMax = 100'000;
  static constexpr std::size_t kNamesMax = 100'000;
  static constexpr std::size_t kStagesOfJobMax = 20'000;

  // An event, and when it happened: never before the one before it.
  using Tell = absl::FunctionRef<void(absl::Time at, EventBody body)>;
  void Translate(const nlohmann::json& event, Tell tell);
  // Reports the end of an application whose ApplicationEnd was read, although some of its queries
  // or jobs have not ended. Call it when the log has no more events. Changes nothing otherwise.
  void Finish(Tell tell);
  // Notes that events are missing here, such as the events of a lost file. Attempts that run may
  // have ended in the gap.
  void Gap(Tell tell);
  // Notes whether Spark has compacted the events that follow: it leaves out jobs that had ended.
  void SetCompacted(bool is_compacted);

  // Returns whether any event was reported, and whether the application has ended.
  bool is_open() const { return is_open_; }
  bool is_closed() const { return is_closed_; }
  // Returns true once ApplicationEnd was read, even if the end has not been reported yet.
  bool has_ended() const { return end_.has_value(); }
  // Returns why events are no longer reported. Empty while they are.
  const std::string& fault() const { return fault_; }
  // Returns Spark's id, such as application_1481182872654_0030. Empty if unknown.
  const std::string& application_id() const { return application_.application_id; }
  // Returns the number of impossible records: tasks of stages that were never opened, events
  // without essential fields.
  std::uint64_t contradictions() const { return contradictions_; }
  // Counts how often the driver's clock was set back; `by` and `at` describe the last time.
  struct SetBack {
    std::uint64_t times = 0;
    absl::Duration by;
    absl::Time at;
  };
  const SetBack& clock_set_back() const { return clock_set_back_; }
  // Returns at least how many events are missing: Spark has numbered tasks whose starts are not in
  // the log, or reports of stages and executors refer to events that are not.
  std::uint64_t missing_events() const { return missing_events_; }
  // Returns the number of events of kinds that do not show progress or are newer than this.
  std::uint64_t unused_events() const { return unused_; }
  // Returns the number of stages and parents that were visited to find skipped stages.
  std::uint64_t steps() const { return steps_; }
  // The most tasks that executors had room for at once.
  std::uint64_t slots_max() const { return slots_max_; }

 private:
  static constexpr std::uint32_t kNoJob = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t kAttemptMax = 1'000'000;  // at a stage
  enum class StageState : std::uint8_t { kPlanned, kRunning, kBroken, kDone, kSkipped };
  struct StageRecord {
    StageOpened opened;  // as it was told last
    StageState state = StageState::kPlanned;
    bool is_by_partition = false;      // so tasks are numbered
    std::uint32_t job = 0;             // that brought it
    std::uint32_t jobs = 0;            // so many that run list it
    std::uint32_t attempts_ahead = 0;  // what was told is so much higher than Spark's
  };
  struct Group {  // a SQL execution, or a job outside of any
    std::string name;
    std::string plan;                                          // of SQL, by its operators
    std::string recognised_by;                                 // the same in every run
    std::string failure;                                       // of a job of it
    bool has_start = false;                                    // its SQLExecutionStart was read
    std::vector<std::uint32_t> planned_task_counts;            // as reported last
    absl::flat_hash_map<std::uint64_t, std::uint32_t> stages;  // how many do the same work
  };
  struct JobRecord {
    std::vector<std::uint32_t> stages;
    std::optional<std::uint64_t> execution;  // its execution; empty: the job is its own group
    bool is_told_of_skips = true;            // since a stage of it was submitted last
    std::int64_t steps = 0;                  // of SkipAvailable(): its stages and their parents
    std::uint64_t missing_before = 0;        // events, at its start
  };
  struct End {  // of the application
    absl::Time at;
    std::int64_t exit_code = 0;
    bool has_exit_code = false;  // Spark 4 reports one
  };
  struct ExecutorRecord {
    std::uint32_t number = 0;
    std::uint32_t slots = 0;
    bool is_gone = false;
  };

  // Threads of the driver that read its clock. The readings of one thread never go back by
  // themselves; an event of a busy thread may be written late, behind later ones of others.
  enum class Reader : std::uint8_t { kScheduler, kTasks, kOther };
  struct Clock {  // as one thread reads it, moved forward by set_back_
    absl::Time latest = absl::InfinitePast();
    std::optional<absl::Time> behind;  // the instant before, which was far behind the latest
  };
  struct Running {
    AttemptId attempt;
    absl::Time start;
  };

  absl::Time Now() const { return now_ == absl::InfinitePast() ? absl::UnixEpoch() : now_; }
  absl::Time Instant(Reader reader, const nlohmann::json& object, const char* name);
  absl::Time PastInstant(const nlohmann::json& object, const char* name) const;
  bool IsSetBack(Clock& clock, absl::Time& at);
  bool OpenApplication(Tell tell);

  void ApplicationStart(const nlohmann::json& event, Tell tell);
  void ApplicationEnd(const nlohmann::json& event, Tell tell);
  void ExecutorAdded(const nlohmann::json& event, Tell tell);
  void ExecutorRemoved(const nlohmann::json& event, Tell tell);
  void EnvironmentUpdate(const nlohmann::json& event, Tell tell);
  void ExecutionStart(const nlohmann::json& event, Tell tell);
  void ExecutionUpdate(const nlohmann::json& event, Tell tell);
  void ExecutionEnd(const nlohmann::json& event, Tell tell);
  void JobStart(const nlohmann::json& event, Tell tell);
  void JobEnd(const nlohmann::json& event, Tell tell);
  void StageSubmitted(const nlohmann::json& event, Tell tell);
  void StageCompleted(const nlohmann::json& event, Tell tell);
  void TaskStart(const nlohmann::json& event, Tell tell);
  void TaskEnd(const nlohmann::json& event, Tell tell);

  std::vector<std::string> OpenGroups() const;
  JobClosed HowItEnded() const;
  void CloseIfAllEnded(Tell tell);
  void GroupEnded(const GroupClosed& closed, const std::string& failure);
  std::uint32_t OccurrenceOf(const std::string& name);
  StageRecord* FindStage(const nlohmann::json& event);
  StageRecord& OpenStage(std::uint32_t number, const nlohmann::json& info, std::uint32_t job,
                         Group& group, const std::string& pool, Tell tell);
  void SkipAvailable(JobRecord& job, Tell tell);
  void Run(std::uint32_t attempt, StageRecord& stage, Tell tell);
  void Skip(StageRecord& stage, Tell tell);
  void Close(StageRecord& stage, JobOutcome outcome, std::string why, Tell tell);
  void EndStages(const JobRecord& ended, bool has_succeeded, Tell tell);
  void NoteStart(std::uint64_t task);
  void NoteEndWithoutStart(std::uint64_t task);
  void NoteRunning(StageRecord& stage, std::uint32_t attempt, Tell tell);
  std::optional<AttemptChanged> AttemptIn(const nlohmann::json& event, Tell tell);
  void TellStart(AttemptChanged changed, absl::Time at, Tell tell);

  JobOpened application_;
  bool has_started_ = false;
  bool is_open_ = false;
  bool is_closed_ = false;
  std::string fault_;
  absl::Time first_ = absl::InfinitePast();  // instant
  absl::Time now_ = absl::InfinitePast();
  std::optional<absl::Time> disbelieved_;
  std::array<Clock, 3> clocks_;  // by Reader
  absl::Duration set_back_;      // in all
  SetBack clock_set_back_;
  std::vector<ExecutorOpened> waiting_executors_;
  absl::flat_hash_map<std::string, ExecutorRecord> executors_;
  std::uint64_t slots_ = 0;
  std::uint64_t slots_max_ = 0;
  std::uint64_t cores_of_task_ = 1;
  absl::flat_hash_map<std::string, std::uint32_t> occurrences_;
  std::map<std::uint64_t, Group> executions_;
  std::set<std::uint64_t> ended_executions_;
  std::map<std::uint32_t, JobRecord> jobs_;
  std::map<std::uint32_t, StageRecord> stages_;
  absl::flat_hash_map<std::uint64_t, Running> running_;  // by Spark's id of the task attempt
  // Spark numbers attempts one after the other: the first start that was read, and the next one.
  std::optional<std::uint64_t> first_task_;
  std::uint64_t next_task_ = 0;
  bool is_compacted_ = false;
  bool is_job_missing_ = false;  // since the last start of a job
  absl::flat_hash_set<std::string> missing_executors_;
  std::uint64_t missing_events_ = 0;
  std::string failure_;  // of the query or job outside of queries that ended last
  std::optional<End> end_;
  std::string stopped_;  // a group that failed after the application's end, since it was stopped
  // Each event pays for some steps of SkipAvailable(). Below 0, skipped stages are reported later.
  std::int64_t steps_left_ = 10'000;
  std::uint64_t steps_ = 0;
  std::uint64_t contradictions_ = 0;
  std::uint64_t unused_ = 0;
};

}  // namespace tidemark::spark
