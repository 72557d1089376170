#include "spark/event_json.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "proto/wire/valid_text.h"

namespace tidemark::spark {
namespace {

using nlohmann::json;

constexpr double kMillisecond = 1e-3;

// Replaces escaped surrogates. Java may write one half of a pair, which no UTF-8 can represent.
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
  // Most events have no control characters, and are parsed without a copy.
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
  return static_cast<double>(*finished_ms - *launched_ms) * kMillisecond;
}

SparkEvent::SparkEvent(json fields)
    : fields_(std::move(fields)), kind_(KindOf(Text(fields_, "Event"))) {
  if (kind_ == EventKind::kTaskEnd) task_end_.emplace(fields_);
}

}  // namespace tidemark::spark
