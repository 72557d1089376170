// Reads a data directory after a master has ended, in whatever way.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "master/store/restore.h"
#include "master/store/workflow_log.h"

namespace tidemark::store {

// `Restored`: a RestoredJob or a RestoredWorkflow, with the file it was made from.
template <typename Restored>
struct Recovered {
  struct Log {
    std::string path;
    Restored restored;
  };
  std::vector<Log> logs;             // in the order in which they began
  std::vector<std::string> damages;  // what could not be read, and where it is now
};

// Restores every *.tidemark-log of `directory` on `threads` threads. Damage in the middle of a log
// stays where it is. The bytes after the place where the log continues are moved to LOG.cut. A log
// that cannot be used at all, or has another name than its job's log, becomes LOG.damaged. Both are
// for people: the master never reads or replaces them (SetAside). Errors: the directory cannot be
// read, or such a file cannot be written, or a log cannot be opened although it may be intact
// (MayBeWhole). Unavailable: a process writes a log of a job or of a workflow.
absl::StatusOr<Recovered<RestoredJob>> RecoverJobs(const std::string& directory,
                                                   std::size_t threads);
// Restores every *.tidemark-workflow in the same way, one after the other. REQUIRES: RecoverJobs()
// has checked that no process writes them.
absl::StatusOr<Recovered<RestoredWorkflow>> RecoverWorkflows(
    const std::string& directory, const workflow::LiveWorkflowOptions& options);

// Renames a file to FILE.damaged, or FILE.damaged.2 and so on. Returns for people where it went.
absl::StatusOr<std::string> SetAside(const std::string& path);

}  // namespace tidemark::store
