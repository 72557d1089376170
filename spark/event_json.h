// Events of Spark as parsed JSON, with typed access to their members.
//
// All readers of a log (Translator, MeasuredStages, ExecutedPlans) share one SparkEvent per logged
// event, and thus one definition of the end of a task.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "tidemark/event.h"

namespace tidemark::spark {

// Parses the text of an event. Replaces invalid UTF-8, control characters and lone surrogates, all
// of which Java may write. Returns a discarded value if the text still does not parse.
nlohmann::json ParseEventJson(std::string_view text);

// Returns the member, or null if `object` is not an object or lacks the member.
const nlohmann::json& Member(const nlohmann::json& object, const char* name);
// Returns the text of the member, or an empty string if the member is not text.
std::string Text(const nlohmann::json& object, const char* name);
// Returns the member as a whole number of at least 0, or nullopt if it is anything else.
std::optional<std::uint64_t> Count(const nlohmann::json& object, const char* name);
// Returns the member as a number of a stage, a task or an attempt, or nullopt if it does not fit.
std::optional<std::uint32_t> Number(const nlohmann::json& object, const char* name);
// Returns true if the member is the boolean true.
bool IsTrue(const nlohmann::json& object, const char* name);
// Parses a Spark property, which is always text. Returns nullopt unless it is a whole number.
std::optional<std::uint64_t> NumberIn(const std::string& text);

// Prefix of the settings that carry the parameters of the program, such as
// spark.tidemark.param.k=80. Spark ignores them.
inline constexpr std::string_view kParameterPrefix = "spark.tidemark.param.";
// Largest number of parameters that are read, in the order of their names. Further ones are
// ignored.
inline constexpr std::size_t kParametersMax = 64;
// Returns the parameters among the Spark properties, by name without the prefix.
std::map<std::string, std::string> ParametersIn(const nlohmann::json& properties);

enum class EventKind : std::uint8_t {
  kOther,
  kLogStart,
  kApplicationStart,
  kApplicationEnd,
  kEnvironmentUpdate,
  kProfileAdded,
  kExecutorAdded,
  kExecutorRemoved,
  kExecutionStart,
  kExecutionUpdate,
  kExecutionEnd,
  kDriverCounts,
  kJobStart,
  kJobEnd,
  kStageSubmitted,
  kStageCompleted,
  kTaskStart,
  kTaskEnd,
};

// The end of a task attempt, as Spark logged it. The event must outlive it.
struct TaskEnd {
  explicit TaskEnd(const nlohmann::json& event);

  // Returns true if the attempt finished and its counters are in the log.
  bool has_counters() const {
    return state == AttemptState::kFinished && metrics.is_object() && stage.has_value();
  }
  // Returns the seconds from launch to finish by the driver's clock. Returns nullopt if the log
  // lacks either time, or if the clock was set back between them.
  std::optional<double> seconds() const;

  const nlohmann::json& info;     // "Task Info"
  const nlohmann::json& reason;   // "Task End Reason"
  const nlohmann::json& metrics;  // "Task Metrics"; null if the log lacks them
  std::optional<std::uint32_t> stage;
  std::optional<std::uint64_t> id;  // Spark's number of the attempt, unique in the application
  std::string executor;
  AttemptState state = AttemptState::kFinished;
  std::optional<std::uint64_t> launched_ms;  // since 1970
  std::optional<std::uint64_t> finished_ms;
};

// A Spark event.
class SparkEvent {
 public:
  explicit SparkEvent(nlohmann::json fields);
  SparkEvent(const SparkEvent&) = delete;
  SparkEvent& operator=(const SparkEvent&) = delete;

  EventKind kind() const { return kind_; }
  const nlohmann::json& fields() const { return fields_; }
  // REQUIRES: kind() is kTaskEnd.
  const TaskEnd& task_end() const { return *task_end_; }

 private:
  const nlohmann::json fields_;
  const EventKind kind_;
  std::optional<TaskEnd> task_end_;
};

}  // namespace tidemark::spark
