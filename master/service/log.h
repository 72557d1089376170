// Writes entries to a LogSink and limits their rate.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/log.h"

namespace tidemark::service {

class Log {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  // `sink` may be empty.
  explicit Log(LogSink sink) : sink_(std::move(sink)) {}

  void Info(const std::string& message, const std::string& job_id = "", Fields fields = {}) const;
  void Warn(const std::string& message, const std::string& job_id = "", Fields fields = {}) const;
  // Writes at most one entry per second for each message, with the number of entries omitted before
  // it. Use it for messages that unauthenticated clients can trigger. The number of different
  // messages must be bounded.
  void WarnRarely(const std::string& message, absl::Time now, const std::string& job_id = "",
                  Fields fields = {});

 private:
  struct Rare {
    absl::Time told_at = absl::InfinitePast();
    std::uint64_t left_out = 0;
  };
  void Emit(LogEntry entry) const {
    if (sink_) sink_(entry);
  }

  const LogSink sink_;
  std::mutex mutex_;
  std::map<std::string, Rare> rare_;  // guarded by mutex_
};

}  // namespace tidemark::service
