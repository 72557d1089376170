#include "cli/follow_job.h"

#include <utility>

namespace tidemark::cli {

absl::StatusOr<Snapshot> FollowJob(const MasterClient& master, const std::string& job_id,
                                   const FollowOptions& options, const FollowCalls& calls,
                                   std::stop_token stop) {
  const auto watch = [&](std::uint64_t after_sequence,
                         const std::function<bool(const Snapshot&)>& on_snapshot,
                         const std::stop_token& until) {
    return master.WatchJob(job_id, options.run_uid, after_sequence, on_snapshot, until);
  };
  return Follower<Snapshot>(watch, master.address(), "job", options, calls).Follow(stop);
}

}  // namespace tidemark::cli
