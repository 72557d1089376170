// The counters, settings and executors of an application, as its event log states them, for the
// models of task phases (whatif/phases/).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "spark/event_scanner.h"
#include "whatif/phases/past_stage.h"
#include "whatif/phases/settings.h"

namespace tidemark::spark {

// The size of an executor.
struct ExecutorSize {
  std::uint64_t cores = 0;
  std::uint64_t profile = 0;                // resource profile for which it was started
  std::map<std::string, double> resources;  // number of addresses by resource, such as "gpu"
};
// Parses an "Executor Info".
ExecutorSize ExecutorSizeIn(const nlohmann::json& executor);

// Computes the number of tasks that an executor runs at once from its cores, other resources such
// as GPUs, and resource profiles.
//
// Not thread-safe. Memory is bounded by the constants below.
class TaskSlots {
 public:
  static constexpr std::size_t kProfilesMax = 1'000;
  static constexpr std::size_t kResourcesMax = 64;  // per profile

  // Reads spark.task.cpus and the amounts of resources among the Spark properties.
  void OnEnvironment(const nlohmann::json& properties);
  // Reads a SparkListenerResourceProfileAdded event.
  void OnProfile(const nlohmann::json& event);
  // Returns the slots of an executor for tasks of its profile; 0 if no task fits.
  std::uint32_t Of(const ExecutorSize& executor) const { return For(executor.profile, executor); }
  // Returns the slots of an executor for tasks of a stage with this profile. They run only on
  // executors of the same profile. If the profile requests nothing of executors, its tasks run on
  // default executors.
  std::uint32_t OfStage(std::uint64_t profile, const ExecutorSize& executor) const;
  // Returns the properties with the amounts of a resource profile: the cores and resources of a
  // task, and the memory and resources of an executor. Profile 0 and unknown profiles change
  // nothing.
  phases::Properties WithProfile(std::uint64_t id, phases::Properties properties) const;

 private:
  using Amounts = std::map<std::string, double>;  // by resource; each amount is positive
  struct Profile {
    std::uint64_t cores_of_task = 1;
    Amounts of_task;
    Amounts of_executor;
  };
  std::uint32_t For(std::uint64_t profile, const ExecutorSize& executor) const;

  std::map<std::uint64_t, Profile> profiles_;  // by Spark's id; 0 is the default
};

struct MeasuredStage {
  std::vector<phases::TaskCounters> tasks;  // counters of the first kTasksOfStageMax finished tasks
  bool is_of_sql = false;
};

// Counts of impossible values of finished tasks, which were dropped.
struct ImpossibleValues {
  std::uint64_t counters = 0;  // negative, not whole, or too large; these count as missing
  std::string first_counter;   // name of the first impossible counter in the log
  std::uint64_t tasks = 0;     // number of tasks longer than three years
};

// Not thread-safe. Memory is bounded by the constants below.
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
  // if all executors share one profile.
  phases::Properties properties() const;
  // Returns true if executors had different resource profiles. In that case, executors() limits the
  // tasks of each executor to the mean of their slots.
  bool has_mixed_profiles() const { return profiles_.size() > 1; }
  // Returns the largest number of tasks that the executors could run at once for a stage, if its
  // resource profile or that of an executor is not the default. Otherwise, returns nullopt.
  std::optional<std::uint64_t> SlotsOf(std::uint32_t stage) const;
  // Returns true if the log contains this value for a Spark setting. Ignores case and surrounding
  // space.
  bool WasSetTo(const std::string& name, const std::string& value) const;
  // Returns the values of the settings spark.tidemark.param.NAME, by NAME.
  const std::map<std::string, std::string>& parameters() const { return parameters_; }
  // Returns the largest number of concurrent executors, and the cores of the first executor. A
  // driver that runs tasks counts as an executor.
  const phases::ObservedExecutors& executors() const { return seen_; }
  // Sets the largest number of tasks that an executor ran at once, if its cores would allow more.
  void LimitTasksAtOnce(double most) { seen_.at_once_max = most; }
  const ImpossibleValues& impossible() const { return impossible_; }

 private:
  void OnTaskEnd(const TaskEnd& task);
  void OnJobStart(const nlohmann::json& event);
  void OnExecutorAdded(const nlohmann::json& event);
  void OnStage(const nlohmann::json& info);
  void AddProfile(std::uint64_t profile, std::uint32_t slots);
  void OnEnvironment(const nlohmann::json& properties);

  std::map<std::uint32_t, MeasuredStage> stages_;
  std::size_t tasks_ = 0;
  std::set<std::uint32_t> sql_stages_;
  std::string version_;
  phases::Properties properties_;
  std::map<std::string, std::string> all_properties_;  // values in lower case
  std::map<std::string, std::string> parameters_;
  std::map<std::string, ExecutorSize> executors_;           // present executors
  std::map<std::uint32_t, std::uint64_t> slots_of_stages_;  // as in SlotsOf()
  TaskSlots task_slots_;
  std::set<std::uint64_t> profiles_;  // profiles of all executors added so far
  double executors_added_ = 0;
  double slots_added_ = 0;  // total slots of all executors added so far
  // Number of counted tasks by stage and executor.
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> ended_;
  phases::ObservedExecutors seen_;
  ImpossibleValues impossible_;
};

}  // namespace tidemark::spark
