// The reader's end of WatchJob and WatchJobs (docs/api.md), as values: responses in, jobs out.
//
//   JobReader reader;
//   while (stream->Read(&response)) {
//     const absl::StatusOr<Snapshot> job = reader.Take(response);
//     ...
//   }
//   request.set_resume_token(reader.resume_token());  // after a break
//
// A response that is refused changes nothing: what was read before, and its token, still hold. Not
// thread-safe.
#pragma once

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tidemark/job.h"

namespace tidemark::v1 {
class WatchJobResponse;
class WatchJobsResponse;
}  // namespace tidemark::v1

namespace tidemark::wire {

// Of one job, with or without deltas.
class JobReader {
 public:
  // The whole snapshot that the response brings. InvalidArgument: it breaks a promise
  // (ParseSnapshot). FailedPrecondition: a delta that builds on another snapshot; resume with the
  // token.
  absl::StatusOr<Snapshot> Take(const v1::WatchJobResponse& response);

  // Of the last response that was taken; empty: of none.
  const std::string& resume_token() const { return resume_token_; }

 private:
  Snapshot newest_;
  std::string resume_token_;
};

// Of all jobs that meet a filter.
class JobListReader {
 public:
  // InvalidArgument: a snapshot breaks a promise, or is not whole.
  absl::Status Take(const v1::WatchJobsResponse& response);

  // By id. Complete once the list is synced; again incomplete between a restart and the next sync.
  const std::map<std::string, Snapshot>& jobs() const { return jobs_; }
  bool is_synced() const { return synced_; }
  const std::string& resume_token() const { return resume_token_; }

 private:
  std::map<std::string, Snapshot> jobs_;
  bool synced_ = false;
  std::string resume_token_;
};

}  // namespace tidemark::wire
