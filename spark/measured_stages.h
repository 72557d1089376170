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
#include "spark/task_slots.h"
#include "whatif/phases/past_stage.h"
#include "whatif/phases/settings.h"

namespace tidemark::spark {

struct MeasuredStage {
  std::vector<phases::TaskCounters> tasks;  // counters of the first kTasksOfStageMax finished tasks
  bool is_of_sql = false;
};

// Counts of impossible values of finished tasks. These values were dropped.
struct ImpossibleValues {
  std::uint64_t counters = 0;  // negative, not whole, or too large; they count as missing
  std::string first_counter;   // name of the first impossible counter in the log
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

  // Returns the stages in which at least one task finished, by number.
  const std::map<std::uint32_t, MeasuredStage>& stages() const { return stages_; }
  // Returns the version of Spark, or "" if it is unknown.
  const std::string& version() const { return version_; }
  // Returns the settings that the models use, with the amounts of the executors' resource profile
  // if all executors share one.
  phases::Properties properties() const;
  // Returns true if executors had different resource profiles. executors() then limits the tasks of
  // each executor to their mean slots.
  bool has_mixed_profiles() const { return profiles_.size() > 1; }
  // Returns true if the log states this value for a Spark setting. Ignores case and surrounding
  // space.
  bool WasSetTo(const std::string& name, const std::string& value) const;
  // Returns the values of the settings spark.tidemark.param.NAME, by NAME.
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
  void AddProfile(std::uint64_t profile, std::uint32_t slots);
  void OnEnvironment(const nlohmann::json& properties);

  std::map<std::uint32_t, MeasuredStage> stages_;
  std::size_t tasks_ = 0;
  std::set<std::uint32_t> sql_stages_;
  std::string version_;
  phases::Properties properties_;
  std::map<std::string, std::string> all_properties_;  // values in lower case
  std::map<std::string, std::string> parameters_;
  std::map<std::string, std::uint32_t> executors_;  // slots of the present executors, by executor
  TaskSlots task_slots_;
  std::set<std::uint64_t> profiles_;  // profiles of all added executors
  double executors_added_ = 0;
  double slots_added_ = 0;  // slots of the added executors
  // Number of counted tasks by stage and executor.
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> ended_;
  phases::ObservedExecutors seen_;
  ImpossibleValues impossible_;
};

}  // namespace tidemark::spark
