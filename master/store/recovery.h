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

// A checkpoint shortens restarts. It is stored next to the event log of a running job and contains
// the state of the job's monitor at one tick. A restart then applies the events before that tick
// without computing estimates.
//
// A checkpoint contains no information beyond the log, so a missing, torn or incompatible
// checkpoint only costs time. Format: docs/internals/event-log.md. Thread-safe for different files.
struct Checkpoint {
  Snapshot newest;  // snapshot of the tick; its sequence is the number of ticks in the log so far
  std::string monitor;  // JobMonitor::Checkpoint() after the tick
};

// Returns the path of the checkpoint of an event log.
std::string CheckpointPath(const std::string& log_path);

// Replaces the whole file, or leaves it unchanged. REQUIRES: the tick is durable in the log.
// Returns errors of the file system.
absl::Status WriteCheckpoint(const std::string& path, const Checkpoint& checkpoint);

// Returns nullopt if there is no readable checkpoint.
std::optional<Checkpoint> ReadCheckpoint(const std::string& path);

// Restoring a job from its event log gives the master's state at the last complete durable record,
// excluding damaged records.

// Returns the snapshot that is published before the first tick of a job.
Snapshot Unticked(const std::string& job_id, const std::string& run_uid, absl::Time opened_at);

struct RestoredJob {
  std::string job_id;
  std::string name_space;  // as passed to EncodeLogStart(); empty if unknown
  JobMonitor monitor;
  Snapshot newest;          // last published snapshot; its sequence is 0 before the first tick
  absl::Time opened_at;     // arrival of the job's first event
  absl::Time latest;        // latest time passed to the monitor
  std::uint64_t log_bytes;  // where the log continues; later bytes must be cut off
  LogKey key;               // key with which the log continues
  std::uint64_t records;
  bool has_end;                         // restored from the last record of an ended job
  bool has_resumed;                     // a checkpoint replaced all earlier estimates
  bool has_ticked_named;                // the log has a tick after the job's name became known
  std::vector<PastForecast> forecasts;  // set for an ended job
  std::optional<JobWorkflow> workflow;  // like EndedJob::workflow
  std::vector<LogDamage> damages;       // unreadable parts, as reported to the monitor
  absl::Status torn;                    // DataLoss if the bytes after log_bytes are a torn record
};

// Fails with NotFound or PermissionDenied if the file cannot be opened, and with InvalidArgument if
// it is not an event log. Fails with DataLoss if no record is usable, and with FailedPrecondition
// if the log ends before its job was opened. Costs as much as the original events and ticks,
// excluding ticks before a checkpoint. For an ended job, reads only the last record in O(1).
absl::StatusOr<RestoredJob> RestoreJob(const std::string& path);

// Applies the events of a log without estimates, and returns the job with the tasks at the end of
// the log. Skips unreadable records. Fails like EventLogReader, and with FailedPrecondition if the
// log ends before its job was opened. O(bytes of the log).
absl::StatusOr<JobMonitor> FoldEvents(const std::string& path);

// The result of restoring a directory. `Restored` is a RestoredJob or a RestoredWorkflow.
template <typename Restored>
struct Recovered {
  struct Log {
    std::string path;
    Restored restored;
  };
  std::vector<Log> logs;             // in the order of the jobs' starts
  std::vector<std::string> damages;  // messages about unreadable data and its new location
};

// Restores every *.tidemark-log of `directory` on `threads` threads. Damage within a log stays in
// place. The bytes after the end of a log are moved to LOG.cut. A log that is unusable, or whose
// name is not that of its job's log, becomes LOG.damaged. The master never reads or replaces these
// files (SetAside). Fails if the directory cannot be read, if a file cannot be written, or if a log
// cannot be opened although it may be intact (MayBeWhole). Fails with Unavailable if a process is
// writing a log of a job or of a workflow.
absl::StatusOr<Recovered<RestoredJob>> RecoverJobs(const std::string& directory,
                                                   std::size_t threads);
// Restores every *.tidemark-workflow like RecoverJobs() restores logs of jobs, but one at a time.
// REQUIRES: RecoverJobs() has checked that no process is writing them.
absl::StatusOr<Recovered<RestoredWorkflow>> RecoverWorkflows(
    const std::string& directory, const dag::LiveWorkflowOptions& options);

// Renames a file to FILE.damaged, or FILE.damaged.2 and so on. Returns a description of the result.
absl::StatusOr<std::string> SetAside(const std::string& path);

}  // namespace tidemark::store
