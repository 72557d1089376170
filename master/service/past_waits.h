// Folds the logs of a data directory again into the waits of a job that has ended, for a master
// that was started after the end.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/waits/cluster_waits.h"

namespace tidemark::service {

// The logs of a job that has ended and of the jobs that ran meanwhile.
struct LogsOfRun {
  std::string own;
  std::vector<std::string> others = {};
  absl::Time ended_at;
};

struct PastWaits {
  blame::ClusterWaits waits;
  bool is_partial = false;  // a log was damaged, or was left out for its size
};

// Reads at most 256 MiB and 100 logs. Errors: the job's own log is larger, or cannot be read.
// O(bytes of the logs).
absl::StatusOr<PastWaits> ReadPastWaits(const LogsOfRun& logs);

}  // namespace tidemark::service
