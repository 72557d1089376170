// Determines from event logs which intermediate results of past Spark applications are worth
// keeping.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "whatif/advise/advice.h"

namespace tidemark::whatif {

struct KeepAnswer {
  absl::StatusOr<advise::Advice> advice;
  std::vector<std::string> warnings;  // warnings about logs, with their paths
  bool is_damaged = false;  // true if a log is damaged; the plans before the damage are used
};

// Reads the logs at `paths`, which may be files or folders, and advises on their plans. Each path
// must contain a log. A file in a folder that is not a log is skipped with a warning. Several logs
// of one run, such as a log and its compressed copy, count once.
KeepAnswer AdviseFromLogs(const std::vector<std::string>& paths,
                          const advise::AdviceOptions& options);

}  // namespace tidemark::whatif
