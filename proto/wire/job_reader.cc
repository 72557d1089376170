#include "proto/wire/job_reader.h"

#include <utility>
#include <vector>

#include "proto/wire/job_codec.h"
#include "proto/wire/snapshot_delta.h"
#include "tidemark/field_error.h"
#include "tidemark/v1/job_service.pb.h"

namespace tidemark::wire {

absl::StatusOr<Snapshot> JobReader::Take(const v1::WatchJobResponse& response) {
  const absl::StatusOr<Snapshot> received = ParseSnapshot(response.snapshot());
  if (!received.ok()) return received.status();
  absl::StatusOr<Snapshot> newer = Apply(newest_, *received);
  if (!newer.ok()) return newer;
  newest_ = *newer;
  resume_token_ = response.resume_token();
  return newer;
}

absl::Status JobListReader::Take(const v1::WatchJobsResponse& response) {
  std::vector<Snapshot> received;
  for (const v1::Snapshot& message : response.snapshots()) {
    absl::StatusOr<Snapshot> snapshot = ParseSnapshot(message);
    if (!snapshot.ok()) return snapshot.status();
    if (snapshot->base_sequence != 0) {
      return FieldError("snapshots.base_sequence", "must be 0: lists hold whole snapshots");
    }
    received.push_back(*std::move(snapshot));
  }
  if (response.restarted()) jobs_.clear();
  for (Snapshot& snapshot : received) {
    std::string job_id = snapshot.job_id;
    jobs_.insert_or_assign(std::move(job_id), std::move(snapshot));
  }
  for (const std::string& job_id : response.removed_job_ids()) jobs_.erase(job_id);
  synced_ = response.synced();
  resume_token_ = response.resume_token();
  return absl::OkStatus();
}

}  // namespace tidemark::wire
