// Log entries of a master, for the embedder's own log.
//
//   tidemark::MasterOptions options;
//   options.log = [](const tidemark::LogEntry& entry) {
//     std::clog << entry.job_id << " " << entry.message << "\n";
//   };
//
// Messages are fixed texts, so that entries can be counted by message; what varies is in `fields`.
// What clients can cause at will is logged at most once a second for each message, with a count of
// the entries that were left out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tidemark {

enum class LogSeverity : std::uint8_t { kInfo, kWarning, kError };

// Never holds a token, a key or what a client sent, except ids.
struct LogEntry {
  LogSeverity severity = LogSeverity::kInfo;
  std::string message;  // one line
  std::string job_id;   // empty: about no job
  // Names and values, such as {"peer", "ipv4:10.0.0.7:4711"}, in a fixed order for each message.
  std::vector<std::pair<std::string, std::string>> fields;
};

// Called from any thread, by several at once; must be quick, must not throw and must not call the
// master. An empty one drops all entries.
using LogSink = std::function<void(const LogEntry&)>;

}  // namespace tidemark
