// What an event log says of stages for the models of their phases (whatif/phases/): the counters of
// tasks that succeeded, the application's settings, and the executors that it had.
//
// Not part of the events of Tidemark, which no other engine could tell. Memory: bounded by the
// constants below. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "whatif/phases/ran_stage.h"
#include "whatif/phases/settings.h"

namespace tidemark::spark {

struct MeasuredStage {
  std::vector<phases::TaskCounters> tasks;  // the first that ended
  bool is_of_sql = false;
};

// What was left out of what tasks that succeeded say, since it cannot be.
struct Unbelievable {
  std::uint64_t counters = 0;  // negative, no whole numbers, or too large; they count as not there
  std::string first_counter;   // its name in the log
  std::uint64_t tasks = 0;     // that took more than three years
};

class MeasuredStages {
 public:
  static constexpr std::size_t kTasksOfStageMax = 500;
  static constexpr std::size_t kTasksMax = 200'000;
  static constexpr std::size_t kSqlStagesMax = 100'000;
  static constexpr std::size_t kExecutorsMax = 100'000;

  // Takes an event of Spark in, as EventScanner leaves it; others change nothing.
  void Take(const nlohmann::json& event);

  // The stages by number, without stages in which no task succeeded.
  const std::map<std::uint32_t, MeasuredStage>& stages() const { return stages_; }
  const std::string& version() const { return version_; }  // of Spark; empty if unknown
  const phases::Properties& properties() const { return properties_; }
  // The program's parameters: spark.tidemark.param.NAME = value, by NAME.
  const std::map<std::string, std::string>& parameters() const { return parameters_; }
  // The most executors at once, and the cores of the first. A driver that runs tasks is an
  // executor.
  const phases::SeenExecutors& executors() const { return seen_; }
  // Sets how many tasks ran at once in each executor, although its cores had room for more.
  void LimitTasksAtOnce(double most) { seen_.at_once_max = most; }
  const Unbelievable& unbelievable() const { return unbelievable_; }

 private:
  void TaskEnd(const nlohmann::json& event);
  void JobStart(const nlohmann::json& event);
  void ExecutorAdded(const nlohmann::json& event);

  std::map<std::uint32_t, MeasuredStage> stages_;
  std::size_t tasks_ = 0;
  std::set<std::uint32_t> sql_stages_;
  std::string version_;
  phases::Properties properties_;
  std::map<std::string, std::string> parameters_;
  std::map<std::string, std::uint32_t> executors_;  // now; their cores
  std::uint64_t cores_of_task_ = 1;
  // Tasks of a stage in an executor, of those that were taken in.
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> ended_;
  phases::SeenExecutors seen_;
  Unbelievable unbelievable_;
};

}  // namespace tidemark::spark
