// Computes the number of tasks that an executor runs at once from its cores, other resources such
// as GPUs, and the resource profile for which it was started.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "whatif/phases/settings.h"

namespace tidemark::spark {

// Not thread-safe. Memory: bounded by the constants below.
class TaskSlots {
 public:
  static constexpr std::size_t kProfilesMax = 1'000;
  static constexpr std::size_t kResourcesMax = 64;  // per profile

  // Reads spark.task.cpus and the amounts of resources among the Spark properties.
  void OnEnvironment(const nlohmann::json& properties);
  // Reads a SparkListenerResourceProfileAdded event.
  void OnProfile(const nlohmann::json& event);
  // Returns the slots of an executor with this "Executor Info"; 0 if no task fits.
  std::uint32_t Of(const nlohmann::json& executor) const;
  // Returns the properties with the amounts of a resource profile: the cores and resources of a
  // task, and the memory and resources of an executor. Profile 0 and unknown ones change nothing.
  phases::Properties WithProfile(std::uint64_t id, phases::Properties properties) const;

 private:
  using Amounts = std::map<std::string, double>;  // by resource, each above 0
  struct Profile {
    std::uint64_t cores_of_task = 1;
    Amounts of_task;
    Amounts of_executor;
  };
  std::map<std::uint64_t, Profile> profiles_;  // by Spark's id; 0 is the default
};

}  // namespace tidemark::spark
