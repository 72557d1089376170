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

namespace tidemark::store {

// The snapshot that is published before the first tick of a job.
Snapshot Unticked(const std::string& job_id, const std::string& run_uid, absl::Time opened_at);

struct RestoredJob {
  std::string job_id;
  std::string name_space;  // as EncodeLogStart() was given it; empty: not said
  JobMonitor monitor;
  Snapshot newest;          // the last one that was published; of sequence 0 before the first
  absl::Time opened_at;     // arrival of its first event
  absl::Time latest;        // of all instants the monitor was told
  std::uint64_t log_bytes;  // where the log goes on; what follows is to be cut off
  LogKey key;               // with which it does
  std::uint64_t records;
  bool has_end;                    // it was made from the last record of a job that has ended
  bool has_resumed;                // a checkpoint spared it the estimates before
  std::vector<LogDamage> damages;  // what could not be read, as the monitor was told
  absl::Status torn;               // DataLoss: what comes after log_bytes is a torn record
};

// NotFound, PermissionDenied: the file. InvalidArgument: not an event log. DataLoss: nothing of it
// can be used. FailedPrecondition: it ends before its job was opened. O(records), each as costly as
// it was when it came, but for the ticks before a checkpoint, which cost nothing; O(1) of a job
// that has ended, of which its last record says all.
absl::StatusOr<RestoredJob> RestoreJob(const std::string& path);

}  // namespace tidemark::store
