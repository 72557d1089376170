// The changes between two snapshots of a run. Pure.
//
//   Apply(base, Delta(base, newer)) == newer
//
// A delta is a Snapshot with base_sequence. A delta omits unchanged stages and children, and
// unchanged info and coverage. Forecasts count from the time of a snapshot, so a forecast that did
// not change is shorter by the time that has passed since the base. A serialized update of 1,000
// stages, of which 40 have changed, takes at most 4 kB.
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

// Returns the delta. If `base` has children or groups that are not in `newer`, which never happens
// within a run, returns `newer` as a whole. REQUIRES: both are whole snapshots of one run in the
// same view, with stages, children and groups in order, and `newer` has the higher sequence number.
// O(stages + children + groups).
Snapshot Delta(const Snapshot& base, const Snapshot& newer);

// Returns the delta for a client with the view `view` that has `base` in this view. REQUIRES: the
// same as for Delta(), with both snapshots in the full view.
Snapshot DeltaInView(const Snapshot& base, const Snapshot& newer, View view);

// Returns the newer snapshot. If `delta` is whole, returns `delta`. Fails with FailedPrecondition
// if the delta belongs to another run or if its base is not `base`. The caller must then watch the
// job again. O(stages + children).
absl::StatusOr<Snapshot> Apply(const Snapshot& base, const Snapshot& delta);

// The client side of WatchJob and WatchJobs (docs/api.md). Converts responses to snapshots of jobs.
//
//   JobReader reader;
//   while (stream->Read(&response)) {
//     const absl::StatusOr<Snapshot> job = reader.Take(response);
//     ...
//   }
//   request.set_resume_token(reader.resume_token());  // after a break
//
// A rejected response has no effect, so the earlier state and its token remain valid. Not
// thread-safe.

// Reads the responses about one job, with or without deltas.
class JobReader {
 public:
  // Returns the whole snapshot for the response. Fails with InvalidArgument if ParseSnapshot()
  // rejects the snapshot. Fails with FailedPrecondition if the response is based on another
  // snapshot; the caller must then resume with the token.
  absl::StatusOr<Snapshot> Take(const v1::WatchJobResponse& response);

  // Returns the token of the last accepted response, or an empty string before the first response.
  const std::string& resume_token() const { return resume_token_; }

 private:
  Snapshot newest_;
  std::string resume_token_;
};

// Reads the responses about all jobs that match a filter.
class JobListReader {
 public:
  // Fails with InvalidArgument if a snapshot is invalid or not whole.
  absl::Status Take(const v1::WatchJobsResponse& response);

  // Returns the jobs by ID. The list is complete while it is synced, and incomplete between a
  // restart and the next sync.
  const std::map<std::string, Snapshot>& jobs() const { return jobs_; }
  bool is_synced() const { return synced_; }
  const std::string& resume_token() const { return resume_token_; }

 private:
  std::map<std::string, Snapshot> jobs_;
  bool synced_ = false;
  std::string resume_token_;
};

}  // namespace tidemark::wire
