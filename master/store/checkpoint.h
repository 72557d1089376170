// A shortcut for restarts: beside the event log of a job that runs, what its monitor had come to at
// one of its ticks. A restart then folds the events before it in and need not estimate again.
//
// It says nothing that the log does not say: one that is missing, torn or of another version costs
// time and nothing else. Format: docs/event-log.md. Thread-safe: functions of their arguments.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "tidemark/job.h"

namespace tidemark::store {

struct Checkpoint {
  Snapshot newest;      // of the tick; as many ticks as its sequence says were in the log by then
  std::string monitor;  // JobMonitor::Checkpoint() after it
};

// The file that belongs to an event log.
std::string CheckpointPath(const std::string& log_path);

// Replaces the file whole, or leaves it as it was. To be called only when the log holds that tick
// for good. Errors are those of the file system.
absl::Status WriteCheckpoint(const std::string& path, const Checkpoint& checkpoint);

// Empty when there is none that can be read.
std::optional<Checkpoint> ReadCheckpoint(const std::string& path);

}  // namespace tidemark::store
