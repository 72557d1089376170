// What a master tells about itself, for whoever keeps logs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tidemark {

enum class LogSeverity : std::uint8_t { kInfo, kWarning, kError };

// Never holds a token, a key or what a client sent beyond ids.
struct LogEntry {
  LogSeverity severity = LogSeverity::kInfo;
  std::string message;
  std::string job_id;  // empty: about no job
  std::vector<std::pair<std::string, std::string>> fields;
};

// Called from any thread, several at once; must be quick and must not call the master.
using LogSink = std::function<void(const LogEntry&)>;

}  // namespace tidemark
