// The log of `tidemark serve`, on standard error: one line for each entry.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "tidemark/log.h"

namespace tidemark::cli {

// "2026-01-02T03:04:05.678Z info job ended job=etl-7 state=succeeded". Values with blanks, quotes
// or control characters are quoted.
std::string LogLine(const LogEntry& entry, absl::Time at);
// {"time":"...","severity":"info","message":"job ended","job":"etl-7","state":"succeeded"}
std::string LogLineJson(const LogEntry& entry, absl::Time at);

// Writes entries of at least `least`. Thread-safe.
LogSink MakeLogSink(bool as_json, LogSeverity least);

}  // namespace tidemark::cli
