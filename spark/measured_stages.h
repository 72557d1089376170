// The counters, settings and executors of an application, as its event log states them, for the
// models of task phases (whatif/phases/).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "spark/event_json.h"
#include "whatif/phases/past_stage.h"
#include "whatif/phases/settings.h"

namespace tidemark::spark {

struct MeasuredStage {
  std::vector<phases::TaskCounters> tasks;  // of the first kTasksOfStageMax tasks that finished
  bool is_of_sql = false;
};

// Impossible values of finished tasks, which were dropped.
struct ImpossibleValues {
  std::uint64_t counters = 0;  // negative, not whole, or too large; they count as missing
  std::string first_counter;   // name of the first of them in the log
  std::uint64_t tasks = 0;     // tasks longer than three years
};

// Not thread-safe. Memory: bounded by the constants below.
class MeasuredStages {
 public:
  static constexpr std::size_t kTasksOfStageMax = 500;
  static constexpr std::size_t kTasksMax = 200'000;
  static constexpr std::size_t kSqlStagesMax = 100'000;
  static constexpr std::size_t kExecutorsMax = 100'000;
  static constexpr std::size_t kPropertiesMax = 5'000;

  // Adds the facts of an event. Ignores events of other kinds.
  void Observe(const SparkEvent& event);

  // Returns the stages by number, without stages in which no task finished.
  const std::map<std::uint32_t, MeasuredStage>& stages() const { return stages_; }
  // Returns the version of Spark; empty if unknown.
  const std::string& version() const { return version_; }
  // Returns the settings that the models use.
  const phases::Properties& properties() const { return properties_; }
  // Returns true if the log states this value for a setting of Spark. Case and surrounding space do
  // not matter.
  bool WasSetTo(const std::string& name, const std::string& value) const;
  // Returns the parameters of the program: spark.tidemark.param.NAME = value, by NAME.
  const std::map<std::string, std::string>& parameters() const { return parameters_; }
  // Returns the largest number of concurrent executors, and the cores of the first executor. A
  // driver that runs tasks counts as an executor.
  const phases::ObservedExecutors& executors() const { return seen_; }
  // Sets the largest number of tasks that an executor ran at once, if its cores had room for more.
  void LimitTasksAtOnce(double most) { seen_.at_once_max = most; }
  const ImpossibleValues& impossible() const { return impossible_; }

 private:
  void OnTaskEnd(const TaskEnd& task);
  void OnJobStart(const nlohmann::json& event);
  void OnExecutorAdded(const nlohmann::json& event);
  void OnEnvironment(const nlohmann::json& properties);

  std::map<std::uint32_t, MeasuredStage> stages_;
  std::size_t tasks_ = 0;
  std::set<std::uint32_t> sql_stages_;
  std::string version_;
  phases::Properties properties_;
  std::map<std::string, std::string> all_properties_;  // in lower case
  std::map<std::string, std::string> parameters_;
  std::map<std::string, std::uint32_t> executors_;  // cores of the present executors
  std::uint64_t cores_of_task_ = 1;
  // Number of counted tasks by stage and executor.
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> ended_;
  phases::ObservedExecutors seen_;
  ImpossibleValues impossible_;
};

}  // namespace tidemark::spark
