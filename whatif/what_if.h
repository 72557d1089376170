// Answers "what if" questions about a run or a plan: when would it end under other scenarios?
//
//   const auto answer = AnswerFromLog("/logs/app-1", {.executors = {4, 8}}, absl::Now());
//   for (const Row& row : answer->rows) ...   // as it is, 4 executors, 8 executors
//
// `tidemark what-if` only parses options into a Question and prints the rows. Errors and remarks
// name its options, such as --executors.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tidemark/job_query.h"
#include "tidemark/plan.h"
#include "whatif/find.h"

namespace tidemark::whatif {

// The changes of a scenario. Empty fields change nothing.
struct Question {
  std::vector<std::uint32_t> slots;      // one scenario each
  std::vector<std::uint32_t> executors;  // one scenario each; must not be combined with slots
  std::optional<double> data_factor;     // applies to every scenario
  std::optional<SchedulingPolicy> policy;
  // Numbers of reduce tasks, for the log of a MapReduce job. Each is a row for each scenario.
  std::vector<std::uint32_t> reducers;

  // The fields below need the log of a Spark application. Each combination of values is a row.
  std::vector<std::uint32_t> cores;  // per executor
  std::vector<std::string> memory;   // per executor, such as 4g
  std::vector<std::uint32_t> partitions;
  std::vector<std::string> compress;              // for shuffles: "true", "false"
  std::vector<double> data;                       // factors on the data of the run
  std::map<std::string, std::string> settings;    // Spark settings
  std::map<std::string, std::string> parameters;  // parameters of the program
  std::map<std::string, std::string> sizes;       // StatedSizes (spark_parameters.h)
  std::map<std::string, std::string> probes;      // logs of probe runs (SparkRuns::Split())
  std::vector<std::string> learn;                 // logs of other runs
  // If set, searches the settings of executors and partitions. Their lists are then the values to
  // search.
  std::optional<Find> find;

  // Returns the options for those fields that need a log, such as --cores.
  std::vector<std::string> LogOptions() const;
  // Returns true if the question is about Spark settings, which a plan does not have.
  bool HasSparkSettings() const {
    return !executors.empty() || LogOptions().size() > (reducers.empty() ? 0u : 1u);
  }
};

// One scenario of an answer.
struct Row {
  std::string name;  // display name, such as "4 executors, 2x data"
  Outcome outcome;
  std::vector<std::string> remarks;             // limitations of the answer, one sentence each
  std::map<std::string, std::string> settings;  // changed Spark settings
  std::optional<double> data_factor;            // data factor of the row, from Question::data
  std::optional<double> core_hours;             // total over all executors until the end
  std::string binding;  // what takes most of the time, such as "network"; empty if unknown
  std::string model;    // model that predicts the row (ModelledRun::model); empty if measured
  // Duration of the unchanged run according to the same models. Unset if the first row comes from
  // these models.
  std::optional<absl::Duration> as_it_is;
};

struct Answer {
  std::vector<Row> rows;              // the unchanged run first
  std::vector<std::string> warnings;  // warnings about the logs, with their paths
  bool is_damaged = false;            // whether a part of the run's log cannot be read
};

// Returns the scenarios that plans and jobs of a master can answer, unchanged scenario first.
std::vector<Scenario> ScenariosOf(const Question& question);

// Returns a row for each outcome of ScenariosOf(). `slots` is the number of slots of the unchanged
// plan, or 0 if unknown.
std::vector<Row> NamedRows(const Question& question, const std::vector<Outcome>& outcomes,
                           std::uint32_t slots = 0);

// Adds remarks on a master's answers: the gain of tasks of equal size, guesses, and more slots than
// in the first row.
void AddRemarksOnJob(std::vector<Row>& rows);

// Answers for a plan of stages, without a master. REQUIRES: IsOfStages(plan). Fails like
// EstimateStages().
absl::StatusOr<std::vector<Row>> AnswerFromPlan(const Plan& plan, const Question& question,
                                                absl::Time now);

// Answers from the log of a run: a Spark event log, the history file of a MapReduce job, or the log
// of a master. Fails like ReadSparkRun(), SparkRunModels and SparkRuns, and with InvalidArgument if
// options contradict each other, have no effect, or make more than 1,000 rows. Errors name the log
// or the option. With Question::find, returns the unchanged run and the best few settings of a
// search.
absl::StatusOr<Answer> AnswerFromLog(const std::string& path, const Question& question,
                                     absl::Time now);

// The changes of one row.
struct SettingsRow {
  std::vector<std::string> parts;  // parts of the row's name; empty for the unchanged run
  std::map<std::string, std::string> settings;  // Spark settings
  std::optional<double> data_factor;
};

// Returns a row for each combination of values. Returns InvalidArgument if two options set the same
// value, or if there are more than 1,000 combinations.
absl::StatusOr<std::vector<SettingsRow>> SettingsRowsOf(const Question& question);

// Returns the error with the name of the option in place of the setting that the option sets:
// "--memory: ..." for "spark.executor.memory: ...".
absl::Status InOptions(const absl::Status& status, const Question& question);

}  // namespace tidemark::whatif
