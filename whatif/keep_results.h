// Which intermediate results of past Spark applications are worth keeping, from their event logs.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "whatif/advise/advice.h"

namespace tidemark::whatif {

struct KeepAnswer {
  absl::StatusOr<advise::Advice> advice;
  std::vector<std::string> warnings;  // about the logs, with their paths
  bool is_damaged = false;            // whether a log is damaged; its earlier plans count
};

// Reads the logs at `paths`, files or folders, and advises on their plans. A path must hold a log;
// a file of a folder that is not a log is left out with a warning. Several logs of one run, such as
// a log and its compressed copy, count once.
KeepAnswer AdviseFromLogs(const std::vector<std::string>& paths,
                          const advise::AdviceOptions& options);

}  // namespace tidemark::whatif
