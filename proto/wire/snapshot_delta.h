// The changes between two snapshots of a run. Pure.
//
//   Apply(base, Delta(base, newer)) == newer
//
// A delta is a Snapshot with base_sequence. It omits unchanged stages and children, and unchanged
// info and coverage. Forecasts count from the instant of a snapshot, so an unchanged forecast is
// shorter by the time that has passed since the base. On the wire, an update of 1,000 stages of
// which 40 have changed takes at most 4 kB.
#pragma once

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tidemark/job.h"
#include "tidemark/job_query.h"

namespace tidemark::v1 {
class WatchJobResponse;
class WatchJobsResponse;
}  // namespace tidemark::v1

namespace tidemark::wire {

// Returns the delta. If `base` has children or groups that `newer` lacks, which never happens
// within a run, returns `newer` whole. REQUIRES: both are whole snapshots of one run in one view,
// with stages, children and groups in order; `newer` has the larger sequence. O(stages + children
// + groups).
Snapshot Delta(const Snapshot& base, const Snapshot& newer);

// Returns the delta for a reader of `view`, who has `base` in that view. REQUIRES: the
// requirements of Delta(), with both snapshots in the full view.
Snapshot DeltaInView(const Snapshot& base, const Snapshot& newer, View view);

// Returns the newer snapshot; a whole `delta` is its own result. Fails with FailedPrecondition if
// the delta belongs to another run or has another base sequence than `base`. The caller must then
// watch the job again. O(stages + children).
absl::StatusOr<Snapshot> Apply(const Snapshot& base, const Snapshot& delta);

// The client side of WatchJob and WatchJobs (docs/api.md) as values. Turns responses into jobs.
//
//   JobReader reader;
//   while (stream->Read(&response)) {
//     const absl::StatusOr<Snapshot> job = reader.Take(response);
//     ...
//   }
//   request.set_resume_token(reader.resume_token());  // after a break
//
// A rejected response changes nothing, so the earlier state and its token remain valid. Not
// thread-safe.

// The reader of one job, with or without deltas.
class JobReader {
 public:
  // Returns the whole snapshot of the response. Fails with InvalidArgument if ParseSnapshot()
  // rejects the snapshot. Fails with FailedPrecondition if its base is another snapshot; the
  // caller must resume with the token.
  absl::StatusOr<Snapshot> Take(const v1::WatchJobResponse& response);

  // Returns the token of the last accepted response, or an empty string before the first.
  const std::string& resume_token() const { return resume_token_; }

 private:
  Snapshot newest_;
  std::string resume_token_;
};

// The reader of all jobs that match a filter.
class JobListReader {
 public:
  // Fails with InvalidArgument if a snapshot is invalid or not whole.
  absl::Status Take(const v1::WatchJobsResponse& response);

  // Returns the jobs by ID. Complete while the list is synced; incomplete between a restart and
  // the next sync.
  const std::map<std::string, Snapshot>& jobs() const { return jobs_; }
  bool is_synced() const { return synced_; }
  const std::string& resume_token() const { return resume_token_; }

 private:
  std::map<std::string, Snapshot> jobs_;
  bool synced_ = false;
  std::string resume_token_;
};

}  // namespace tidemark::wire
