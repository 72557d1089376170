// Splits the text of an event log into events, and keeps the members of each event that readers
// use.
//
// A log is a sequence of JSON objects. Spark writes one per line, but an object ends at its last
// brace, regardless of line ends. The scanner keeps members at any depth by name, and only the
// beginning of long strings. A plan of 100 MB shrinks to a few kilobytes. Memory is bounded for any
// text.
//
// The scanner supports only the parts of JSON that this requires; a parser reads the kept text. A
// number that JSON does not allow, such as NaN, becomes null. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "tidemark/event.h"

namespace tidemark::spark {

// Events of Spark as parsed JSON, with typed access to their members.
//
// All readers of a log (Translator, MeasuredStages, ExecutedPlans) share one SparkEvent per logged
// event, and thus one definition of the end of a task.

// Parses the text of an event. Replaces invalid UTF-8, control characters and lone surrogates, all
// of which Java may write. Returns a discarded value if the text still does not parse.
nlohmann::json ParseEventJson(std::string_view text);

// Returns the member, or null if `object` is not an object or lacks the member.
const nlohmann::json& Member(const nlohmann::json& object, const char* name);
// Returns the string value of the member, or an empty string if the member is not a string.
std::string Text(const nlohmann::json& object, const char* name);
// Returns the member as a whole number of at least 0, or nullopt if it is anything else.
std::optional<std::uint64_t> Count(const nlohmann::json& object, const char* name);
// Returns the member as the number of a stage, a task or an attempt, or nullopt if it does not fit.
std::optional<std::uint32_t> Number(const nlohmann::json& object, const char* name);
// Returns true if the member is the boolean true.
bool IsTrue(const nlohmann::json& object, const char* name);
// Parses a Spark property, which is always a string. Returns nullopt unless it is a whole number.
std::optional<std::uint64_t> NumberIn(const std::string& text);

// Prefix of the settings that contain the parameters of the program, such as
// spark.tidemark.param.k=80. Spark ignores them.
inline constexpr std::string_view kParameterPrefix = "spark.tidemark.param.";
// Maximum number of parameters that are read, in the order of their names. Further parameters are
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
  // Returns the seconds from launch to finish by the driver's clock, or nullopt if the log lacks
  // either time or the clock was set back between them.
  std::optional<double> seconds() const;

  const nlohmann::json& info;     // "Task Info"
  const nlohmann::json& reason;   // "Task End Reason"
  const nlohmann::json& metrics;  // "Task Metrics"; null if the log lacks them
  std::optional<std::uint32_t> stage;
  std::optional<std::uint64_t> id;  // Spark's number of the attempt, unique within the application
  std::string executor;
  AttemptState state = AttemptState::kFinished;
  std::optional<std::uint64_t> launched_ms;  // since 1970
  std::optional<std::uint64_t> finished_ms;
};

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

class EventScanner {
 public:
  // Maximum size of a kept string, in bytes.
  static constexpr std::size_t kStringMax = 4096;
  // Maximum size of a kept event, in bytes. A job of 20,000 stages with five RDDs each takes 13 MB.
  // Larger events are counted and dropped.
  static constexpr std::size_t kEventMax = std::size_t{16} << 20;
  // Maximum number of values in an event, since a parser needs about 100 bytes per value. A job of
  // 20,000 stages with five RDDs each has 560,000.
  static constexpr std::size_t kValuesMax = 1'000'000;
  // Deeper values become null. SQL plans nest deepest, with two levels per operator.
  static constexpr std::size_t kDepthMax = 1000;

  // The kept parts of events.
  struct Kept {
    const absl::flat_hash_set<std::string_view>* names = nullptr;  // names of the kept members
    std::size_t operator_max = 0;   // maximum size of an operator's description, in bytes
    std::size_t depth_max = 0;      // maximum nesting depth
    bool keeps_properties = false;  // whether all of "Spark Properties" is kept
  };
  // Keeps the facts for progress, waits and models.
  static Kept ForProgress();
  // Keeps the facts for progress and all Spark properties.
  static Kept ForSettings();
  // Keeps the facts for progress, and whole plans of up to 5,000 operators with their counters.
  static Kept ForPlans();
  explicit EventScanner(const Kept& kept = ForProgress()) : kept_of_(kept) {}

  // Passes each complete event to `take` as a JSON object, in the order of the log.
  using Take = absl::FunctionRef<void(std::string_view event)>;
  void Feed(std::string_view text, Take take);
  // Ends a file of a log that continues in another file. An event that the end of the file cuts
  // short counts as broken; the next file begins with a new event.
  void EndFile();

  // Returns true if the text so far ends inside an event.
  bool is_inside() const { return !stack_.empty(); }
  // Returns the number of events that broke off before the next event or file, or that are not
  // JSON.
  std::uint64_t broken_events() const { return broken_; }
  // Returns the number of events that exceeded kEventMax or kValuesMax.
  std::uint64_t oversized_events() const { return oversized_; }
  // Returns the number of events that began in the text but were not passed on.
  std::uint64_t lost_events() const { return cut_ + oversized_; }

 private:
  enum class StringUse : std::uint8_t { kNone, kKey, kValue, kDropped };

  const char* InString(const char* at, const char* end);
  void Outside(char c, Take take);
  void BeginString();
  void EndString();
  void EndScalar();
  void Open(char c);
  void Close(char c, Take take);
  void BeginItem();
  void BeginValue();
  void Keep(std::string_view text);
  void Reset();
  void Cut();
  bool is_dropping() const { return drops_value_ || dropped_ > 0; }

  Kept kept_of_;
  std::string text_;         // kept part of the event
  std::string key_;          // name of the next value
  std::string scalar_;       // current number or word
  std::vector<char> stack_;  // closing brackets of the open objects and arrays that are kept
  std::size_t dropped_ = 0;  // depth inside a dropped value
  std::size_t kept_ = 0;     // number of kept bytes of the current string
  std::size_t values_ = 0;   // number of kept values of the event
  // depth of the object whose members may have any name; 0 outside such an object
  std::size_t properties_at_ = 0;
  StringUse string_ = StringUse::kNone;
  std::uint8_t escape_ = 0;  // remaining characters of an escape
  bool keeps_escape_ = false;
  bool is_key_next_ = false;
  bool drops_value_ = false;
  bool is_line_new_ = false;
  bool is_lost_ = false;  // whether text is dropped up to the next line
  bool is_oversized_ = false;
  std::uint64_t broken_ = 0;
  std::uint64_t cut_ = 0;  // number of broken-off events, included in broken_
  std::uint64_t oversized_ = 0;
};

}  // namespace tidemark::spark
