#include "serve/serve_log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "absl/time/clock.h"

namespace tidemark::cli {
namespace {

const char* NameOf(LogSeverity severity) {
  switch (severity) {
    case LogSeverity::kInfo:
      return "info";
    case LogSeverity::kWarning:
      return "warning";
    case LogSeverity::kError:
      return "error";
  }
  return "error";
}

std::string TimeText(absl::Time at) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", at, absl::UTCTimeZone());
}

// ASCII: some characters of a stranger's text steer a terminal, or turn the rest of its line.
std::string Json(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', /*ensure_ascii=*/true,
                                   nlohmann::json::error_handler_t::replace);
}

std::string Value(const std::string& text) {
  const bool is_word = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c <= '~' && c != '"' && c != '=' && c != '\\';
  });
  return is_word ? text : Json(text);
}

// A line of its own, without what steers a terminal: messages quote ids and paths of strangers.
std::string Message(const std::string& text) {
  const bool is_plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (is_plain) return text;
  const std::string quoted = Json(text);
  return quoted.substr(1, quoted.size() - 2);
}

}  // namespace

std::string LogLine(const LogEntry& entry, absl::Time at) {
  std::string line = TimeText(at) + " " + NameOf(entry.severity) + " " + Message(entry.message);
  if (!entry.job_id.empty()) line += " job=" + Value(entry.job_id);
  for (const auto& [name, value] : entry.fields) line += " " + name + "=" + Value(value);
  return line;
}

std::string LogLineJson(const LogEntry& entry, absl::Time at) {
  std::string line = "{\"time\":\"" + TimeText(at) + "\",\"severity\":\"" + NameOf(entry.severity) +
                     "\",\"message\":" + Json(entry.message);
  if (!entry.job_id.empty()) line += ",\"job\":" + Json(entry.job_id);
  for (const auto& [name, value] : entry.fields) line += "," + Json(name) + ":" + Json(value);
  return line + "}";
}

LogSink MakeLogSink(bool as_json, LogSeverity least) {
  auto logger = std::make_shared<spdlog::logger>("tidemark",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%v");
  logger->flush_on(spdlog::level::trace);
  return [logger, as_json, least](const LogEntry& entry) {
    if (entry.severity < least) return;
    const absl::Time now = absl::Now();
    logger->info(as_json ? LogLineJson(entry, now) : LogLine(entry, now));
  };
}

}  // namespace tidemark::cli
