// Makes a job again from its event log: the state its master had when the last whole record became
// durable.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tidemark/job_monitor.h"
#include "tidemark/snapshot.h"

namespace tidemark::store {

struct RestoredJob {
  std::string job_id;
  std::string name_space;  // as EncodeLogStart() was given it; of a job that has ended, empty
  JobMonitor monitor;
  Snapshot newest;          // the last one that was published; of sequence 0 before the first
  absl::Time opened_at;     // arrival of its first envelope
  absl::Time latest;        // of all instants the monitor was told
  std::uint64_t log_bytes;  // of whole records: where the log goes on
  std::uint64_t records;
  bool has_end;         // it was made from the last record of a job that has ended
  bool has_resumed;     // a checkpoint spared it the estimates before
  absl::Status damage;  // DataLoss: what comes after log_bytes is torn or corrupt
};

// NotFound, PermissionDenied: the file. InvalidArgument: not an event log. DataLoss: nothing of it
// can be used. FailedPrecondition: it ends before its job was opened. O(records), each as costly as
// it was when it came, but for the ticks before a checkpoint, which cost nothing; O(1) of a job
// that has ended, of which its last record says all.
absl::StatusOr<RestoredJob> RestoreJob(const std::string& path);

}  // namespace tidemark::store
