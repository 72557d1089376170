// Collects the plans that an application ran from its event log: operators of SQL executions with
// their counters, the lineage of other jobs' RDDs, and the times of their stages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "spark/event_scanner.h"
#include "spark/log_files.h"
#include "whatif/advise/past_plan.h"

namespace tidemark::spark {

struct PlansOfLog {
  std::vector<advise::PastPlan> plans;  // sorted by start time
  // number of executions and jobs that failed or have no end in the log
  std::uint64_t left_out = 0;
  absl::Status damage;  // DataLoss if the log is damaged; plans before the damage are present
  std::vector<std::string> remarks;  // see RemarksOn()
  std::string run;                   // see ExecutedPlans::run()
  // Reads the plans of the only log at `path`. Fails like LogReader, but reports damage in
  // `damage`.
  std::uint64_t events = 0;
};

// Reads the plans of the only log at `path`. Fails as LogReader does, but reports damage in
// `damage`.
absl::StatusOr<PlansOfLog> ReadPlans(const std::string& path);
// Reads the plans of one of several logs.
absl::StatusOr<PlansOfLog> ReadPlans(const LogFiles& log);

// Collects plans from events. Counts and omits executions that failed or have no end in the log,
// since their times do not show the cost of their results. Pure. Not thread-safe. Memory is bounded
// by the constants below.
class ExecutedPlans {
 public:
  static constexpr std::size_t kExecutionsMax = 10'000;
  static constexpr std::size_t kStagesMax = 100'000;
  static constexpr std::size_t kCountersMax = 1'000'000;
  static constexpr std::size_t kOperatorsMax = 200'000;  // maximum over all plans together
  static constexpr std::size_t kTasksOfStageMax = 500;
  static constexpr std::size_t kExecutorsMax = 10'000;

  // Adds the facts of an event as kept by EventScanner::ForPlans(). Ignores other kinds of events.
  void Observe(const SparkEvent& event);
  // Returns the plans, sorted by start time. Must be called once, after all events.
  std::vector<advise::PastPlan> Finish();

  // Returns a string that is equal for logs of the same run of an application. It contains the
  // application's id, attempt, name and start. Empty if the start has not been read.
  const std::string& run() const { return run_; }
  // Returns true if an execution or a job was read.
  bool has_plans() const { return !executions_.empty() || !jobs_.empty(); }
  // Returns the number of executions and jobs that Finish() omitted.
  std::uint64_t left_out() const { return left_out_; }

 private:
  struct Metric {
    enum class Kind : std::uint8_t { kRecords, kBytes, kWrittenRecords, kRead, kOther };
    std::size_t op = 0;
    std::uint64_t accumulator = 0;
    Kind kind = Kind::kOther;
  };
  struct Execution {
    advise::PastPlan plan;
    std::vector<Metric> metrics;
    bool has_ended = false;
    bool has_failed = false;
    // whether the end event states the outcome, as in Spark 3.4 and later
    bool is_reported = false;
  };
  struct Job {
    std::optional<std::uint64_t> execution;
    std::vector<std::uint32_t> stages;
    bool is_done = false;
  };
  struct Rdd {
    std::string name;
    std::string scope;
    std::string callsite;
    std::size_t occurrence = 1;  // 1-based position among the RDDs of this source line
    std::vector<std::uint64_t> parents;
  };
  struct Stage {
    advise::PastPlanStage run;
    bool has_run = false;
    std::vector<double> tasks;  // seconds; excludes tasks that started an executor
    double longest_first = 0;   // longest task that started an executor; seconds
    double loading = 0;  // longest code-loading time of the tasks that started an executor; seconds
    double read_records = 0;
    double written_bytes = 0;
    std::map<std::uint64_t, Rdd> rdds;  // by id; used outside SQL
  };
  struct Counter {
    double value = 0;
    std::vector<std::uint32_t> stages;
  };

  void ExecutionStart(const nlohmann::json& event);
  void ExecutionEnd(const nlohmann::json& event);
  void SetPlan(Execution& execution, const nlohmann::json& root);
  bool IsOfKnownExecution(const Job& job) const;
  void JobStart(const nlohmann::json& event);
  void JobEnd(const nlohmann::json& event);
  void StageCompleted(const nlohmann::json& event);
  void OnTaskEnd(const TaskEnd& task);
  void DriverCounts(const nlohmann::json& event);
  void FindStartUps();
  Counter* CounterOf(std::uint64_t accumulator);
  void Fill(Execution& execution) const;
  std::optional<advise::PastPlan> LineageOf(std::uint32_t number, const Job& job) const;

  std::string application_;
  std::string program_;
  std::string run_;
  std::map<std::uint64_t, Execution> executions_;
  std::map<std::uint32_t, Job> jobs_;
  std::map<std::uint32_t, double> job_begins_;  // seconds since the epoch
  std::map<std::uint32_t, std::string> job_lines_;
  std::map<std::uint32_t, Stage> stages_;
  std::map<std::string, std::vector<std::uint64_t>> rdds_of_line_;
  std::map<std::string, std::uint64_t> start_ups_;  // end of the start-up by executor; ms
  absl::flat_hash_map<std::uint64_t, Counter> counters_;
  std::size_t operators_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace tidemark::spark
