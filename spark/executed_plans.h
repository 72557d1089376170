// What an event log says of plans that ran: operators of SQL executions with what they counted, and
// the lineage of RDDs of other jobs, with the times of their stages.
//
//   ExecutedPlans plans;
//   plans.Feed(text);                    // pieces of any size
//   for (advise::RanPlan& plan : plans.Finish()) ...
//
// An execution that failed, or whose end is not in the log, is counted and left out: it took less,
// or more, than its results do. Never fails. Pure; not thread-safe. Memory: bounded by the
// constants below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "spark/event_scanner.h"
#include "whatif/advise/ran_plan.h"

namespace tidemark::spark {

class ExecutedPlans {
 public:
  static constexpr std::size_t kExecutionsMax = 10'000;
  static constexpr std::size_t kStagesMax = 100'000;
  static constexpr std::size_t kCountersMax = 1'000'000;
  static constexpr std::size_t kOperatorsMax = 200'000;  // of all plans together
  static constexpr std::size_t kTasksOfStageMax = 500;
  static constexpr std::size_t kExecutorsMax = 10'000;

  ExecutedPlans() : scanner_(EventScanner::ForPlans()) {}

  void Feed(std::string_view text);
  // Ends a file of a log that continues in another file: see EventScanner.
  void EndFile() { scanner_.EndFile(); }
  // Takes one event in, as EventScanner leaves it; others change nothing.
  void Take(const nlohmann::json& event);
  // By when they began. To be called once.
  std::vector<advise::RanPlan> Finish();

  // Returns a text that is equal for logs of the same run of an application: its id, its attempt,
  // its name and when it started. Empty if its start was not read.
  const std::string& run() const { return run_; }
  // Events of Spark that were read.
  std::uint64_t events() const { return events_; }
  std::uint64_t left_out() const { return left_out_; }  // executions and jobs, by Finish()
  bool is_cut() const { return scanner_.is_inside(); }
  // Returns whether the start of the application was among the events.
  bool has_started() const { return has_started_; }

 private:
  // A metric of an operator, by the number of its accumulator.
  struct Metric {
    enum class Kind : std::uint8_t { kRecords, kBytes, kWrittenRecords, kRead, kOther };
    std::size_t op = 0;
    std::uint64_t accumulator = 0;
    Kind kind = Kind::kOther;
  };
  struct Execution {
    advise::RanPlan plan;
    std::vector<Metric> metrics;
    bool has_ended = false;
    bool has_failed = false;
    bool is_reported = false;  // its end reports whether it failed, from Spark 3.4 on
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
    std::size_t occurrence = 1;  // of RDDs that this line of the program made
    std::vector<std::uint64_t> parents;
    std::vector<std::uint32_t> stages;
  };
  struct Stage {
    advise::StageRun run;
    bool has_run = false;
    std::vector<double> tasks;  // seconds of the first that ended
    double longest_first = 0;   // of those on executors that had run nothing; seconds
    double loading = 0;         // of these, the most for loading code; seconds
    double read_records = 0;
    double written_bytes = 0;
    std::map<std::uint64_t, Rdd> rdds;  // of a job outside of SQL
  };
  struct Counter {
    double value = 0;
    std::vector<std::uint32_t> stages;
  };

  void Parse(std::string_view text);
  void ExecutionStart(const nlohmann::json& event);
  void ExecutionEnd(const nlohmann::json& event);
  void SetPlan(Execution& execution, const nlohmann::json& root);
  bool IsOfKnownExecution(const Job& job) const;
  void JobStart(const nlohmann::json& event);
  void JobEnd(const nlohmann::json& event);
  void StageCompleted(const nlohmann::json& event);
  void TaskEnd(const nlohmann::json& event);
  void DriverCounts(const nlohmann::json& event);
  void FindStartUps();
  Counter* CounterOf(std::uint64_t accumulator);
  void Fill(Execution& execution) const;
  std::optional<advise::RanPlan> LineageOf(std::uint32_t number, const Job& job) const;

  EventScanner scanner_;
  bool has_started_ = false;
  std::string application_;
  std::string program_;
  std::string run_;
  std::map<std::uint64_t, Execution> executions_;
  std::map<std::uint32_t, Job> jobs_;
  std::map<std::uint32_t, double> job_begins_;  // seconds of the clock
  std::map<std::uint32_t, std::string> job_lines_;
  std::map<std::uint32_t, Stage> stages_;
  std::map<std::string, std::vector<std::uint64_t>> rdds_of_line_;
  std::map<std::string, std::uint64_t> start_ups_;  // by executor: until when, milliseconds
  absl::flat_hash_map<std::uint64_t, Counter> counters_;
  std::size_t operators_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace tidemark::spark
