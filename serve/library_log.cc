#include "serve/library_log.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "absl/time/clock.h"

namespace tidemark::cli {
namespace {

// Never freed: the libraries have threads that outlive main().
struct Libraries {
  LogSink sink;  // empty: lines are dropped
  RareEntries rare;
};
Libraries& Listening() {
  static Libraries* const libraries = new Libraries;
  return *libraries;
}

void Take(const char* library, const std::string& text, bool ends_process) {
  if (ends_process) {
    std::fprintf(stderr, "%s: %s\n", library, text.c_str());
    return;
  }
  Libraries& libraries = Listening();
  if (!libraries.sink) return;
  if (const auto entry = libraries.rare.Next(library, text, absl::Now())) libraries.sink(*entry);
}

void TakeFromGrpc(gpr_log_func_args* said) {
  const bool ends_process =
      std::string_view(said->message).find("assertion failed") != std::string_view::npos;
  Take("gRPC", said->message, ends_process);
}

void TakeFromProtobuf(google::protobuf::LogLevel level, const char* /*file*/, int /*line*/,
                      const std::string& message) {
  Take("protobuf", message, level == google::protobuf::LOGLEVEL_FATAL);
}

void Listen() {
  gpr_set_log_function(TakeFromGrpc);
  google::protobuf::SetLogHandler(TakeFromProtobuf);
}

}  // namespace

std::optional<LogEntry> RareEntries::Next(const std::string& library, const std::string& text,
                                          absl::Time now) {
  const std::lock_guard lock(mutex_);
  // A clock that was set back must not suppress entries.
  if (now >= told_at_ && now - told_at_ < absl::Seconds(1)) {
    ++left_out_;
    return std::nullopt;
  }
  told_at_ = now;
  LogEntry entry{.severity = LogSeverity::kWarning,
                 .message = "gRPC or protobuf logged",
                 .fields = {{"library", library}, {"text", text}}};
  if (const std::uint64_t left_out = std::exchange(left_out_, 0); left_out > 0) {
    entry.fields.emplace_back("left_out", std::to_string(left_out));
  }
  return entry;
}

void SilenceLibraries() {
  if (std::getenv("GRPC_VERBOSITY") == nullptr) Listen();
}

void LogLibraries(LogSink sink) {
  Listening().sink = std::move(sink);
  Listen();
}

}  // namespace tidemark::cli
