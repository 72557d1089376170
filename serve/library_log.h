// The destination of log messages of gRPC and protobuf, many of which strangers can cause at will.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "tidemark/log.h"

namespace tidemark::cli {

// Lets one entry a second through; it says how many were left out before it. Thread-safe.
class RareEntries {
 public:
  std::optional<LogEntry> Next(const std::string& library, const std::string& text, absl::Time now);

 private:
  std::mutex mutex_;  // guards both
  absl::Time told_at_ = absl::InfinitePast();
  std::uint64_t left_out_ = 0;
};

// From now on the libraries write nothing, but why they end the process; with GRPC_VERBOSITY among
// the environment's variables all stays as it was. Before the first thread.
void SilenceLibraries();

// From now on what they say goes to `sink`, once a second at most. Before the first thread.
void LogLibraries(LogSink sink);

}  // namespace tidemark::cli
