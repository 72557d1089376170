// Makes a job again from its event log: the state its master had when the last whole record became
// durable, without what was damaged since.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/store/log_record.h"
#include "tidemark/job.h"
#include "tidemark/job_monitor.h"
#include "tidemark/job_tasks.h"

namespace tidemark::store {

// The snapshot that is published before the first tick of a job.
Snapshot Unticked(const std::string& job_id, const std::string& run_uid, absl::Time opened_at);

struct RestoredJob {
  std::string job_id;
  std::string name_space;  // as passed to EncodeLogStart(); empty if unknown
  JobMonitor monitor;
  Snapshot newest;          // the last one that was published; of sequence 0 before the first
  absl::Time opened_at;     // arrival of its first event
  absl::Time latest;        // latest of all instants passed to the monitor
  std::uint64_t log_bytes;  // where the log continues; the bytes after it must be cut off
  LogKey key;               // the key with which it continues
  std::uint64_t records;
  bool has_end;                         // it was made from the last record of a job that has ended
  bool has_resumed;                     // a checkpoint spared it the estimates before
  std::vector<PastForecast> forecasts;  // of a job that has ended
  std::vector<LogDamage> damages;       // unreadable parts, as reported to the monitor
  absl::Status torn;                    // DataLoss: the bytes after log_bytes are a torn record
};

// NotFound, PermissionDenied: the file. InvalidArgument: not an event log. DataLoss: nothing of it
// can be used. FailedPrecondition: it ends before its job was opened. O(records), each as costly as
// it was when it came, but for the ticks before a checkpoint, which cost nothing; O(1) of a job
// that has ended, of which its last record says all.
absl::StatusOr<RestoredJob> RestoreJob(const std::string& path);

// Folds the events of a log, without estimates, and returns the job as its tasks were at the end of
// the log. Records that cannot be read are left out. Fails as EventLogReader does, or with
// FailedPrecondition if the log ends before its job was opened. O(bytes of the log).
absl::StatusOr<JobMonitor> FoldEvents(const std::string& path);

}  // namespace tidemark::store
