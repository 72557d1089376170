// From the events of Spark to those of Tidemark: what the application's driver would have told.
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
//   ApplicationEnd          JobClosed
//
// Instants are the driver's; docs/spark-logs.md says what is made of the rest. A task's index is
// its partition where the log says it, else Spark's own, which is dense in each attempt at its
// stage.
//
// Never fails: what an event lacks is not known, and an event that contradicts what is known, such
// as a task of a stage that nobody opened, is counted and left out. Memory: bounded by kStagesMax
// and its like, whatever the log says. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
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

  // Whether anything was told, and whether the application has ended.
  bool is_open() const { return is_open_; }
  bool is_closed() const { return is_closed_; }
  // Why its events are not told any more; empty: they are.
  const std::string& fault() const { return fault_; }
  // What Spark calls the application, such as application_1481182872654_0030; empty: not known.
  const std::string& application_id() const { return application_.application_id; }
  // What the log says and cannot be: tasks of stages that were never opened, fields without which
  // an event says nothing.
  std::uint64_t contradictions() const { return contradictions_; }
  // Of kinds that say nothing of progress, or that are newer than this.
  std::uint64_t unused_events() const { return unused_; }
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
    std::vector<std::uint32_t> planned_task_counts;            // as told last
    absl::flat_hash_map<std::uint64_t, std::uint32_t> stages;  // how many do the same work
  };
  struct JobRecord {
    std::vector<std::uint32_t> stages;
    std::optional<std::uint64_t> execution;  // that it is of; empty: it is a group of its own
    bool is_told_of_skips = true;            // since a stage of it was submitted last
  };
  struct ExecutorRecord {
    std::uint32_t number = 0;
    std::uint32_t slots = 0;
    bool is_gone = false;
  };

  absl::Time Now() const { return now_ == absl::InfinitePast() ? absl::UnixEpoch() : now_; }
  absl::Time Instant(const nlohmann::json& object, const char* name);
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

  std::uint32_t OccurrenceOf(const std::string& name);
  StageRecord* FindStage(const nlohmann::json& event);
  StageRecord& OpenStage(std::uint32_t number, const nlohmann::json& info, std::uint32_t job,
                         Group& group, const std::string& pool, Tell tell);
  void SkipAvailable(JobRecord& job, Tell tell);
  void Skip(StageRecord& stage, Tell tell);
  void Close(StageRecord& stage, JobOutcome outcome, std::string why, Tell tell);
  std::optional<AttemptChanged> AttemptIn(const nlohmann::json& event);
  void TellStart(const nlohmann::json& event, AttemptChanged changed, Tell tell);

  JobOpened application_;
  bool has_started_ = false;
  bool is_open_ = false;
  bool is_closed_ = false;
  std::string fault_;
  absl::Time first_ = absl::InfinitePast();  // instant
  absl::Time now_ = absl::InfinitePast();
  std::optional<absl::Time> disbelieved_;
  std::vector<ExecutorOpened> waiting_executors_;
  absl::flat_hash_map<std::string, ExecutorRecord> executors_;
  std::uint64_t slots_ = 0;
  std::uint64_t slots_max_ = 0;
  std::uint64_t cores_of_task_ = 1;
  absl::flat_hash_map<std::string, std::uint32_t> occurrences_;
  std::map<std::uint64_t, Group> executions_;
  std::map<std::uint32_t, JobRecord> jobs_;
  std::map<std::uint32_t, StageRecord> stages_;
  absl::flat_hash_set<std::uint64_t> running_;  // by Spark's id of the task attempt
  std::string failure_;                         // of the job that ended last
  std::uint64_t contradictions_ = 0;
  std::uint64_t unused_ = 0;
};

}  // namespace tidemark::spark
