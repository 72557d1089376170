// The log of `tidemark serve` on standard error: one line per entry, including entries of gRPC and
// protobuf.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "tidemark/log.h"

namespace tidemark::serve {

// Returns "2026-01-02T03:04:05.678Z info job ended job=etl-7 state=succeeded", without the time if
// `at` is nullopt. Values with blanks, quotes or control characters are quoted.
std::string LogLine(const LogEntry& entry, std::optional<absl::Time> at);
// Returns {"time":"...","severity":"info","message":"job ended","job":"etl-7","state":"succeeded"}.
std::string LogLineJson(const LogEntry& entry, absl::Time at);

// Returns a thread-safe sink that writes entries of severity `least` or higher to standard error.
// Lines for the journal of systemd have no time, since the journal adds it.
LogSink MakeLogSink(bool as_json, LogSeverity least);

// Limits the libraries' entries to one per second, since any client can cause them. Each entry
// states how many entries were dropped before it. Thread-safe.
class RareEntries {
 public:
  // Returns nullopt if the entry is dropped.
  std::optional<LogEntry> Next(const std::string& library, const std::string& text, absl::Time now);

 private:
  std::mutex mutex_;  // Guards both members.
  absl::Time logged_at_ = absl::InfinitePast();
  std::uint64_t left_out_ = 0;
};

// Drops log messages of gRPC and protobuf, except the reason for an abort. Does nothing if the
// environment variable GRPC_VERBOSITY is set. Must be called before the first thread starts.
void SilenceLibraries();

// Writes log messages of gRPC and protobuf to `sink`, at most one per second. Must be called before
// the first thread starts.
void LogLibraries(LogSink sink);

}  // namespace tidemark::serve
