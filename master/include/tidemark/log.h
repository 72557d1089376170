// Log entries of a master, for the embedder's own log.
//
//   tidemark::MasterOptions options;
//   options.log = [](const tidemark::LogEntry& entry) {
//     std::clog << entry.job_id << " " << entry.message << "\n";
//   };
//
// Messages are constant, so entries can be counted by message; `fields` contains the variable
// parts. A message that clients can trigger is logged at most once a second, with the number of
// omitted entries.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tidemark {

enum class LogSeverity : std::uint8_t { kInfo, kWarning, kError };

// Contains no tokens, keys or client data other than IDs.
struct LogEntry {
  LogSeverity severity = LogSeverity::kInfo;
  std::string message;  // one line
  std::string job_id;   // empty if the entry concerns no job
  // Names and values, such as {"peer", "ipv4:10.0.0.7:4711"}, in a fixed order for each message.
  std::vector<std::pair<std::string, std::string>> fields;
};

// Called concurrently on any thread. The sink must be quick, must not throw and must not call the
// master. An empty sink drops all entries.
using LogSink = std::function<void(const LogEntry&)>;

}  // namespace tidemark
