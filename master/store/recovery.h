// Restores jobs and workflows from a data directory, regardless of how its master ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/store/log_record.h"
#include "master/store/workflow_log.h"
#include "tidemark/job.h"
#include "tidemark/job_monitor.h"
#include "tidemark/job_tasks.h"

namespace tidemark::store {

// A checkpoint shortens restarts. It is stored beside the event log of a running job and holds the
// state of its monitor at one tick. A restart then folds the events before that tick without
// computing estimates.
//
// A checkpoint holds no information beyond the log: a missing, torn or incompatible one only costs
// time. Format: docs/internals/event-log.md. Thread-safe: functions of their arguments.
struct Checkpoint {
  Snapshot newest;      // of the tick; its sequence is the number of ticks in the log by then
  std::string monitor;  // JobMonitor::Checkpoint() after it
};

// Returns the path of the checkpoint of an event log.
std::string CheckpointPath(const std::string& log_path);

// Replaces the file as a whole or leaves it unchanged. REQUIRES: the tick is durable in the log.
// Returns errors of the file system.
absl::Status WriteCheckpoint(const std::string& path, const Checkpoint& checkpoint);

// Returns nullopt without a readable checkpoint.
std::optional<Checkpoint> ReadCheckpoint(const std::string& path);

// Restoring a job from its event log gives the state of its master at the last complete durable
// record, without damaged records.

// Returns the snapshot that is published before the first tick of a job.
Snapshot Unticked(const std::string& job_id, const std::string& run_uid, absl::Time opened_at);

struct RestoredJob {
  std::string job_id;
  std::string name_space;  // as passed to EncodeLogStart(); empty if unknown
  JobMonitor monitor;
  Snapshot newest;          // the last published one; of sequence 0 before the first
  absl::Time opened_at;     // arrival of its first event
  absl::Time latest;        // latest of all instants passed to the monitor
  std::uint64_t log_bytes;  // where the log continues; later bytes must be cut off
  LogKey key;               // the key with which it continues
  std::uint64_t records;
  bool has_end;                         // restored from the last record of an ended job
  bool has_resumed;                     // a checkpoint replaced the estimates before it
  bool has_ticked_named;                // the log has a tick after the job's name was known
  std::vector<PastForecast> forecasts;  // of an ended job
  std::vector<LogDamage> damages;       // unreadable parts, as reported to the monitor
  absl::Status torn;                    // DataLoss: the bytes after log_bytes are a torn record
};

// NotFound, PermissionDenied: the file. InvalidArgument: not an event log. DataLoss: no record is
// usable. FailedPrecondition: it ends before its job was opened. O(records), with the original cost
// of each, but without cost for ticks before a checkpoint. O(1) for an ended job, from its last
// record.
absl::StatusOr<RestoredJob> RestoreJob(const std::string& path);

// Folds the events of a log without estimates and returns the job with the tasks at the end of the
// log. Unreadable records are skipped. Errors: see EventLogReader; FailedPrecondition if the log
// ends before its job was opened. O(bytes of the log).
absl::StatusOr<JobMonitor> FoldEvents(const std::string& path);

// `Restored` is a RestoredJob or a RestoredWorkflow. Each has its file.
template <typename Restored>
struct Recovered {
  struct Log {
    std::string path;
    Restored restored;
  };
  std::vector<Log> logs;             // in the order of their starts
  std::vector<std::string> damages;  // unreadable data and its new location
};

// Restores every *.tidemark-log of `directory` on `threads` threads. Damage within a log stays in
// place. The bytes after the end of a log are moved to LOG.cut. An unusable log, or one with
// another name than its job's log, becomes LOG.damaged. The master never reads or replaces these
// files (SetAside). Errors: the directory cannot be read, a file cannot be written, or a log cannot
// be opened although it may be intact (MayBeWhole). Unavailable: a process writes a log of a job or
// of a workflow.
absl::StatusOr<Recovered<RestoredJob>> RecoverJobs(const std::string& directory,
                                                   std::size_t threads);
// Restores every *.tidemark-workflow in the same way, one after the other. REQUIRES: RecoverJobs()
// has checked that no process writes them.
absl::StatusOr<Recovered<RestoredWorkflow>> RecoverWorkflows(
    const std::string& directory, const dag::LiveWorkflowOptions& options);

// Renames a file to FILE.damaged, or FILE.damaged.2 and so on. Returns a description of the result.
absl::StatusOr<std::string> SetAside(const std::string& path);

}  // namespace tidemark::store
