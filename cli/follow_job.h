// Follows one job at a master, through the master's absences.
#pragma once

#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "cli/follow.h"
#include "cli/master_client.h"
#include "tidemark/snapshot.h"

namespace tidemark::cli {

using FollowCalls = BasicFollowCalls<Snapshot>;

// The final snapshot. NotFound: no such job. Unavailable: the master cannot be reached, or has
// stayed away too long. Cancelled: stopped, or on_snapshot returned false.
absl::StatusOr<Snapshot> FollowJob(const MasterClient& master, const std::string& job_id,
                                   const FollowOptions& options, const FollowCalls& calls,
                                   std::stop_token stop = {});

}  // namespace tidemark::cli
