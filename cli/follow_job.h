// Follows one job at a master, through the master's absences.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cli/master_client.h"
#include "tidemark/snapshot.h"

namespace tidemark::cli {

struct FollowOptions {
  // How long a master that has once answered may stay away.
  absl::Duration patience = absl::Minutes(1);
  // The job is still to come: try until stopped, whatever the master says.
  bool expects_job = false;
};

// What is told on the way.
struct FollowCalls {
  std::function<bool(const Snapshot&)> on_snapshot;  // false: stop
  std::function<void(const std::string&)> on_trouble;
};

// The final snapshot. NotFound: no such job. Unavailable: the master cannot be reached, or has
// stayed away too long. Cancelled: stopped, or on_snapshot returned false.
absl::StatusOr<Snapshot> FollowJob(const MasterClient& master, const std::string& job_id,
                                   const FollowOptions& options, const FollowCalls& calls,
                                   std::stop_token stop = {});

}  // namespace tidemark::cli
