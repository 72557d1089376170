#include "serve/serve_log.h"

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "absl/time/clock.h"

namespace tidemark::serve {
namespace {

const char* SeverityName(LogSeverity severity) {
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

// Returns true if standard error is connected to the journal of systemd (systemd.exec(5)).
bool WritesToJournal() {
  const char* const stream = std::getenv("JOURNAL_STREAM");
  struct stat file = {};
  return stream != nullptr && ::fstat(STDERR_FILENO, &file) == 0 &&
         stream == fmt::format("{}:{}", file.st_dev, file.st_ino);
}

// Returns a JSON string in ASCII. Other characters of untrusted text could control the terminal.
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

// Returns the message on one line without control characters, since messages quote untrusted text.
std::string Message(const std::string& text) {
  const bool is_plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (is_plain) return text;
  const std::string quoted = Json(text);
  return quoted.substr(1, quoted.size() - 2);
}

// The destination of library logs. Never freed, since threads of the libraries outlive main().
struct Libraries {
  LogSink sink;  // if empty, lines are dropped
  RareEntries rare;
};
Libraries& LibraryLog() {
  static Libraries* const libraries = new Libraries;
  return *libraries;
}

void LogFrom(const char* library, const std::string& text, bool ends_process) {
  if (ends_process) {
    std::fprintf(stderr, "%s: %s\n", library, text.c_str());
    return;
  }
  Libraries& libraries = LibraryLog();
  if (!libraries.sink) return;
  if (const auto entry = libraries.rare.Next(library, text, absl::Now())) libraries.sink(*entry);
}

void LogFromGrpc(gpr_log_func_args* entry) {
  const bool ends_process =
      std::string_view(entry->message).find("assertion failed") != std::string_view::npos;
  LogFrom("gRPC", entry->message, ends_process);
}

void LogFromProtobuf(google::protobuf::LogLevel level, const char* /*file*/, int /*line*/,
                     const std::string& message) {
  LogFrom("protobuf", message, level == google::protobuf::LOGLEVEL_FATAL);
}

void InstallHandlers() {
  gpr_set_log_function(LogFromGrpc);
  google::protobuf::SetLogHandler(LogFromProtobuf);
}

}  // namespace

std::string LogLine(const LogEntry& entry, std::optional<absl::Time> at) {
  std::string line = at ? TimeText(*at) + " " : "";
  line += std::string(SeverityName(entry.severity)) + " " + Message(entry.message);
  if (!entry.job_id.empty()) line += " job=" + Value(entry.job_id);
  for (const auto& [name, value] : entry.fields) line += " " + name + "=" + Value(value);
  return line;
}

std::string LogLineJson(const LogEntry& entry, absl::Time at) {
  std::string line = "{\"time\":\"" + TimeText(at) + "\",\"severity\":\"" +
                     SeverityName(entry.severity) + "\",\"message\":" + Json(entry.message);
  if (!entry.job_id.empty()) line += ",\"job\":" + Json(entry.job_id);
  for (const auto& [name, value] : entry.fields) line += "," + Json(name) + ":" + Json(value);
  return line + "}";
}

LogSink MakeLogSink(bool as_json, LogSeverity least) {
  auto logger = std::make_shared<spdlog::logger>("tidemark",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%v");
  logger->flush_on(spdlog::level::trace);
  const bool has_times = !WritesToJournal();
  return [logger, as_json, least, has_times](const LogEntry& entry) {
    if (entry.severity < least) return;
    const absl::Time now = absl::Now();
    const std::optional<absl::Time> shown = has_times ? std::optional(now) : std::nullopt;
    logger->info(as_json ? LogLineJson(entry, now) : LogLine(entry, shown));
  };
}

std::optional<LogEntry> RareEntries::Next(const std::string& library, const std::string& text,
                                          absl::Time now) {
  const std::lock_guard lock(mutex_);
  // If the clock was set back, entries are not suppressed.
  if (now >= logged_at_ && now - logged_at_ < absl::Seconds(1)) {
    ++left_out_;
    return std::nullopt;
  }
  logged_at_ = now;
  LogEntry entry{.severity = LogSeverity::kWarning,
                 .message = "gRPC or protobuf logged",
                 .fields = {{"library", library}, {"text", text}}};
  if (const std::uint64_t left_out = std::exchange(left_out_, 0); left_out > 0) {
    entry.fields.emplace_back("left_out", std::to_string(left_out));
  }
  return entry;
}

void SilenceLibraries() {
  if (std::getenv("GRPC_VERBOSITY") == nullptr) InstallHandlers();
}

void LogLibraries(LogSink sink) {
  LibraryLog().sink = std::move(sink);
  InstallHandlers();
}

}  // namespace tidemark::serve
