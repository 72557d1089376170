#include "spark/event_scanner.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "proto/wire/valid_text.h"
#include "whatif/phases/settings.h"

namespace tidemark::spark {
namespace {

using nlohmann::json;

constexpr double kSecondsOfMillisecond = 1e-3;

// Replaces escaped surrogates. Java may write one half of a pair, which UTF-8 cannot represent.
std::string WithoutSurrogates(std::string text) {
  for (std::size_t at = 0; (at = text.find('\\', at)) != std::string::npos;) {
    const bool is_surrogate = text.size() >= at + 6 && text[at + 1] == 'u' &&
                              (text[at + 2] == 'd' || text[at + 2] == 'D') && text[at + 3] >= '8';
    if (is_surrogate) {
      text.replace(at, 6, "?");
    } else {
      at += 2;
    }
  }
  return text;
}

EventKind KindOf(const std::string& name) {
  static const auto* const kKinds = new absl::flat_hash_map<std::string_view, EventKind>{
      {"SparkListenerLogStart", EventKind::kLogStart},
      {"SparkListenerApplicationStart", EventKind::kApplicationStart},
      {"SparkListenerApplicationEnd", EventKind::kApplicationEnd},
      {"SparkListenerEnvironmentUpdate", EventKind::kEnvironmentUpdate},
      {"SparkListenerResourceProfileAdded", EventKind::kProfileAdded},
      {"SparkListenerExecutorAdded", EventKind::kExecutorAdded},
      {"SparkListenerExecutorRemoved", EventKind::kExecutorRemoved},
      {"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart",
       EventKind::kExecutionStart},
      {"org.apache.spark.sql.execution.ui.SparkListenerSQLAdaptiveExecutionUpdate",
       EventKind::kExecutionUpdate},
      {"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd", EventKind::kExecutionEnd},
      {"org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates",
       EventKind::kDriverCounts},
      {"SparkListenerJobStart", EventKind::kJobStart},
      {"SparkListenerJobEnd", EventKind::kJobEnd},
      {"SparkListenerStageSubmitted", EventKind::kStageSubmitted},
      {"SparkListenerStageCompleted", EventKind::kStageCompleted},
      {"SparkListenerTaskStart", EventKind::kTaskStart},
      {"SparkListenerTaskEnd", EventKind::kTaskEnd}};
  const auto kind = kKinds->find(name);
  return kind == kKinds->end() ? EventKind::kOther : kind->second;
}

AttemptState StateAfter(const std::string& reason, const json& task) {
  if (reason == "Success") return AttemptState::kFinished;
  if (reason == "Resubmitted") return AttemptState::kObsolete;
  const bool is_killed = reason == "TaskKilled" || reason == "TaskCommitDenied" ||
                         reason == "ExecutorLostFailure" || IsTrue(task, "Killed");
  if (reason.empty() && !is_killed && !IsTrue(task, "Failed")) return AttemptState::kFinished;
  return is_killed ? AttemptState::kKilled : AttemptState::kFailed;
}

}  // namespace

json ParseEventJson(std::string_view text) {
  // Most events contain no control characters, and are parsed without a copy.
  if (std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20; })) {
    json event = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!event.is_discarded()) return event;
  }
  std::string valid = wire::ValidText(text);
  std::replace_if(
      valid.begin(), valid.end(), [](char c) { return c >= 0 && c < 0x20; }, ' ');
  json event = json::parse(valid, nullptr, /*allow_exceptions=*/false);
  if (!event.is_discarded()) return event;
  return json::parse(WithoutSurrogates(std::move(valid)), nullptr, /*allow_exceptions=*/false);
}

const json& Member(const json& object, const char* name) {
  static const json* const kNull = new json;
  if (!object.is_object()) return *kNull;
  const auto found = object.find(name);
  return found == object.end() ? *kNull : *found;
}

std::string Text(const json& object, const char* name) {
  const json& member = Member(object, name);
  return member.is_string() ? member.get<std::string>() : std::string();
}

std::optional<std::uint64_t> Count(const json& object, const char* name) {
  const json& member = Member(object, name);
  if (!member.is_number_unsigned()) return std::nullopt;
  return member.get<std::uint64_t>();
}

std::optional<std::uint32_t> Number(const json& object, const char* name) {
  const std::optional<std::uint64_t> count = Count(object, name);
  if (!count || *count > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(*count);
}

bool IsTrue(const json& object, const char* name) {
  const json& member = Member(object, name);
  return member.is_boolean() && member.get<bool>();
}

std::optional<std::uint64_t> NumberIn(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::map<std::string, std::string> ParametersIn(const json& properties) {
  std::map<std::string, std::string> parameters;
  if (!properties.is_object()) return parameters;
  for (const auto& [name, value] : properties.items()) {
    if (parameters.size() == kParametersMax) break;
    if (!name.starts_with(kParameterPrefix) || !value.is_string()) continue;
    const std::string own = name.substr(kParameterPrefix.size());
    if (!own.empty()) parameters[own] = value.get<std::string>();
  }
  return parameters;
}

TaskEnd::TaskEnd(const json& event)
    : info(Member(event, "Task Info")),
      reason(Member(event, "Task End Reason")),
      metrics(Member(event, "Task Metrics")),
      stage(Number(event, "Stage ID")),
      id(Count(info, "Task ID")),
      executor(Text(info, "Executor ID")),
      state(StateAfter(Text(reason, "Reason"), info)),
      launched_ms(Count(info, "Launch Time")),
      finished_ms(Count(info, "Finish Time")) {}

std::optional<double> TaskEnd::seconds() const {
  if (!launched_ms || !finished_ms || *finished_ms < *launched_ms) return std::nullopt;
  return static_cast<double>(*finished_ms - *launched_ms) * kSecondsOfMillisecond;
}

SparkEvent::SparkEvent(json fields)
    : fields_(std::move(fields)), kind_(KindOf(Text(fields_, "Event"))) {
  if (kind_ == EventKind::kTaskEnd) task_end_.emplace(fields_);
}

namespace {

// Description of an operator of a plan and its columns. Only its first words matter for progress,
// so at most kOperatorMax bytes are kept.
constexpr std::string_view kOperator = "simpleString";
constexpr std::size_t kOperatorMax = 64;
constexpr std::string_view kProperties = "Spark Properties";

// Members that Translator and MeasuredStages read.
const absl::flat_hash_set<std::string_view>& KeptKeys() {
  static const auto* const keys = new absl::flat_hash_set<std::string_view>{
      // Members of several events.
      "Event", "Timestamp", "Job ID", "Stage ID", "Stage Attempt ID", "Executor ID",
      "Submission Time", "Completion Time", "executionId", "time",
      // The application.
      "App Name", "App ID", "App Attempt ID", "User", "ExitCode", "Spark Version",
      "Spark Properties", "spark.yarn.queue", "spark.task.cpus",
      // Executors, and the resources that they and their tasks need.
      "Executor Info", "Host", "Total Cores", "Resource Profile Id", "Resources", "addresses",
      "Executor Resource Requests", "Task Resource Requests", "Amount",
      // Jobs, and SQL executions.
      "Stage Infos", "Properties", "spark.sql.execution.id", "spark.scheduler.pool", "Job Result",
      "Result", "Exception", "Message", "sparkPlanInfo", "nodeName", kOperator, "children",
      "description", "spark.job.description", "errorMessage",
      // Stages.
      "Stage Info", "RDD Info", "Name", "Scope", "Number of Partitions", "Stage Name",
      "Number of Tasks", "Parent IDs", "Failure Reason",
      // Tasks.
      "Task Info", "Task ID", "Index", "Partition ID", "Attempt", "Launch Time", "Finish Time",
      "Speculative", "Failed", "Killed", "Task End Reason", "Reason", "Class Name", "Description",
      "Kill Reason", "Loss Reason", "Task Metrics", "Executor CPU Time", "JVM GC Time",
      "Input Metrics", "Bytes Read", "Records Read", "Output Metrics", "Bytes Written",
      "Shuffle Read Metrics", "Remote Bytes Read", "Local Bytes Read", "Total Records Read",
      "Fetch Wait Time", "Shuffle Write Metrics", "Shuffle Bytes Written", "Shuffle Write Time",
      // Counters and settings that only MeasuredStages reads.
      "Executor Run Time", "Executor Deserialize Time", "Result Size", "Memory Bytes Spilled",
      "Disk Bytes Spilled", "Peak Execution Memory", "Shuffle Records Written", "Records Written",
      "spark.executor.instances", "spark.executor.cores", "spark.executor.memory",
      "spark.memory.fraction", "spark.memory.storageFraction", "spark.memory.offHeap.enabled",
      "spark.memory.offHeap.size", "spark.memory.useLegacyMode", "spark.shuffle.memoryFraction",
      "spark.shuffle.safetyFraction", "spark.shuffle.spill", "spark.shuffle.manager",
      "spark.shuffle.sort.bypassMergeThreshold", "spark.shuffle.compress",
      "spark.shuffle.spill.compress", "spark.io.compression.codec", "spark.serializer",
      "spark.sql.shuffle.partitions", "spark.default.parallelism"};
  return *keys;
}

// Members that ExecutedPlans reads in addition.
const absl::flat_hash_set<std::string_view>& KeptKeysWithPlans() {
  static const auto* const keys = [] {
    auto* const all = new absl::flat_hash_set<std::string_view>(KeptKeys());
    all->insert({// Plans, and the counters of the driver.
                 "metadata", "Location", "ReadSchema", "PartitionFilters", "PushedFilters",
                 "DataFilters", "Format", "metrics", "name", "accumulatorId", "details",
                 "accumUpdates",
                 // Jobs and stages.
                 "RDD ID", "Callsite", "Accumulables", "ID", "Value", "Metadata"});
    return all;
  }();
  return *keys;
}

// Returns true for objects whose members have the names of resources, such as "gpu".
bool IsByResource(std::string_view key) {
  return key == "Resources" || key == "Executor Resource Requests" ||
         key == "Task Resource Requests";
}

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Maximum size of a buffer that is kept for the next event, in bytes. A master follows many logs,
// so large buffers would add up.
constexpr std::size_t kKeptMax = std::size_t{1} << 20;
// Maximum length of names of members and properties that are compared with the kept names.
constexpr std::size_t kKeyMax = 64;
constexpr std::size_t kPropertyKeyMax = 512;
// Length of the longest escape: \u and four digits.
constexpr std::uint8_t kEscapeMax = 6;
// Maximum length of a number that is kept.
constexpr std::size_t kScalarMax = 64;

constexpr std::string_view kMarks = "\"{}[],:";

// Returns true if `text` is a number or a word of JSON. Java also writes NaN and Infinity.
bool IsScalar(std::string_view text) {
  const bool is_count =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return (is_count && text[0] != '0') || nlohmann::json::accept(text);
}

}  // namespace

EventScanner::Kept EventScanner::ForProgress() {
  return {.names = &KeptKeys(), .operator_max = kOperatorMax, .depth_max = kDepthMax};
}

EventScanner::Kept EventScanner::ForSettings() {
  Kept kept = ForProgress();
  kept.keeps_properties = true;
  return kept;
}

EventScanner::Kept EventScanner::ForPlans() {
  constexpr std::size_t kPlanDepthMax = 12'000;
  return {.names = &KeptKeysWithPlans(), .operator_max = kStringMax, .depth_max = kPlanDepthMax};
}

void EventScanner::Feed(std::string_view text, Take take) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    // Spark ends an event and its line together. If an object begins a line inside another object,
    // the outer event was cut short.
    if (std::exchange(is_line_new_, false) && *at == '{') {
      Cut();
    }
    if (string_ != StringUse::kNone) {
      at = InString(at, end);
      continue;
    }
    const char c = *at++;
    if (c == '\n') is_line_new_ = true;
    if (!is_lost_) Outside(c, take);
  }
}

void EventScanner::EndFile() {
  is_line_new_ = false;
  Cut();
}

// Counts the event that breaks off here, if there is one, and resets the state for the next event.
void EventScanner::Cut() {
  if (is_inside()) {
    ++broken_;
    ++cut_;
  }
  Reset();
}

// Reads up to the end of the string, the line or the text, whichever comes first, and returns that
// position.
const char* EventScanner::InString(const char* at, const char* end) {
  const bool is_key = string_ == StringUse::kKey;
  const std::size_t most = is_key              ? (properties_at_ > 0 ? kPropertyKeyMax : kKeyMax)
                           : key_ == kOperator ? kept_of_.operator_max
                                               : kStringMax;
  std::string* to = nullptr;
  if (is_key) to = &key_;
  if (string_ == StringUse::kValue && !is_oversized_) to = &text_;
  while (at != end) {
    if (escape_ > 0) {
      const char c = *at++;
      if (keeps_escape_) {
        to->push_back(c);
        ++kept_;
      }
      // The character after the backslash determines the length.
      const std::uint8_t digits = c == 'u' ? 4 : 0;
      escape_ = escape_ == kEscapeMax ? digits : static_cast<std::uint8_t>(escape_ - 1);
      continue;
    }
    const char* const from = at;
    while (at != end && *at != '"' && *at != '\\' && *at != '\n') ++at;
    if (to != nullptr && kept_ < most) {
      const std::size_t size = std::min(static_cast<std::size_t>(at - from), most - kept_);
      to->append(from, size);
      kept_ += size;
    }
    if (at == end) break;
    const char c = *at++;
    if (c == '"') {
      EndString();
      break;
    }
    if (c == '\n') {
      is_line_new_ = true;
      break;
    }
    escape_ = kEscapeMax;
    keeps_escape_ = to != nullptr && kept_ + kEscapeMax <= most;
    if (keeps_escape_) {
      to->push_back(c);
      ++kept_;
    }
  }
  return at;
}

void EventScanner::Outside(char c, Take take) {
  if (!scalar_.empty() && (IsSpace(c) || kMarks.find(c) != kMarks.npos)) EndScalar();
  if (IsSpace(c)) return;
  if (stack_.empty()) {
    if (c == '{') {
      Open(c);
    } else if (c != ',' && c != '[' && c != ']') {  // Some tools convert a log to an array.
      ++broken_;
      is_lost_ = true;
    }
    return;
  }
  switch (c) {
    case '"':
      return BeginString();
    case '{':
    case '[':
      return Open(c);
    case '}':
    case ']':
      return Close(c, take);
    case ',':
      if (dropped_ > 0) return;
      drops_value_ = false;
      is_key_next_ = stack_.back() == '}';
      return;
    case ':':
      return;
    default:
      if (!is_dropping() && scalar_.size() < kScalarMax) scalar_ += c;
  }
}

// Keeps an invalid number as null, so that the rest of the event stays valid.
void EventScanner::EndScalar() {
  BeginValue();
  Keep(IsScalar(scalar_) ? scalar_ : "null");
  scalar_.clear();
}

void EventScanner::BeginString() {
  kept_ = 0;
  if (is_dropping()) {
    string_ = StringUse::kDropped;
  } else if (std::exchange(is_key_next_, false)) {
    string_ = StringUse::kKey;
    key_.clear();
  } else {
    string_ = StringUse::kValue;
    BeginValue();
    Keep("\"");
  }
}

void EventScanner::EndString() {
  const StringUse use = std::exchange(string_, StringUse::kNone);
  if (use == StringUse::kValue) Keep("\"");
  if (use != StringUse::kKey) return;
  const bool is_property = properties_at_ > 0 && stack_.size() == properties_at_;
  drops_value_ = !is_property && !kept_of_.names->contains(key_) &&
                 !key_.starts_with(kParameterPrefix) && !phases::ResourceIn(key_);
  if (drops_value_) return;
  BeginItem();
  Keep("\"");
  Keep(key_);
  Keep("\":");
}

void EventScanner::Open(char c) {
  if (is_dropping()) {
    ++dropped_;
    return;
  }
  BeginValue();
  if (stack_.size() == kept_of_.depth_max) {
    Keep("null");
    drops_value_ = true;
    ++dropped_;
    return;
  }
  Keep({&c, 1});
  is_key_next_ = c == '{';
  stack_.push_back(c == '{' ? '}' : ']');
  const bool is_properties = kept_of_.keeps_properties && stack_.size() == 2 && key_ == kProperties;
  if (c == '{' && (is_properties || IsByResource(key_))) properties_at_ = stack_.size();
}

void EventScanner::Close(char c, Take take) {
  if (dropped_ > 0) {
    --dropped_;
    return;
  }
  if (stack_.back() != c) {
    ++broken_;
    Reset();
    is_lost_ = true;
    return;
  }
  Keep({&c, 1});
  if (stack_.size() == properties_at_) properties_at_ = 0;
  stack_.pop_back();
  drops_value_ = false;
  is_key_next_ = false;
  if (!stack_.empty()) return;
  if (is_oversized_) {
    ++oversized_;
  } else {
    take(text_);
  }
  Reset();
}

// Adds a comma unless this is the first kept member or element.
void EventScanner::BeginItem() {
  if (text_.empty()) return;
  const char last = text_.back();
  if (last != '{' && last != '[' && last != ':') Keep(",");
}

void EventScanner::BeginValue() {
  BeginItem();
  if (++values_ > kValuesMax) is_oversized_ = true;
}

void EventScanner::Keep(std::string_view text) {
  if (text_.size() + text.size() > kEventMax) is_oversized_ = true;
  if (is_oversized_) {
    text_.clear();
  } else {
    text_ += text;
  }
}

void EventScanner::Reset() {
  if (text_.capacity() > kKeptMax) std::string().swap(text_);
  text_.clear();
  values_ = 0;
  stack_.clear();
  dropped_ = 0;
  string_ = StringUse::kNone;
  escape_ = 0;
  scalar_.clear();
  properties_at_ = 0;
  is_key_next_ = drops_value_ = is_lost_ = is_oversized_ = false;
}

}  // namespace tidemark::spark
