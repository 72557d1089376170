// Reads a data directory after a master has ended, in whatever way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "master/store/restore.h"

namespace tidemark::service {

struct RecoveredJobs {
  std::vector<store::RestoredJob> jobs;  // in the order in which they were opened
  std::vector<std::string> damages;      // what could not be read, and where it is now
};

// Restores every *.tidemark-log of `directory` on `threads` threads. What is damaged in the middle
// of a log stays where it is; what follows the place where the log goes on is moved to LOG.cut; a
// log that cannot be used at all, or has another name than its job's log, becomes LOG.damaged. Both
// are for people: nothing reads them, and nothing replaces them (SetAside). Errors: the directory
// cannot be read, or such a file cannot be written, or a log cannot be opened although nothing may
// be wrong with it (MayBeWhole).
absl::StatusOr<RecoveredJobs> RecoverJobs(const std::string& directory, std::size_t threads);

// The steps of it, for logs of another kind.

// The files of `directory` that end in `extension`, by name.
absl::StatusOr<std::vector<std::string>> FilesWith(const std::string& directory,
                                                   const std::string& extension);
// Whether a log that could not be read may still be whole: it may not be read by this user, or
// there are no descriptors or memory left. To set it aside for that would lose its job.
bool MayBeWhole(const absl::Status& why);
// Cuts off what follows the first `bytes` of a log, if anything does, and keeps it as LOG.cut, or
// LOG.cut.2 and so on if there is one. Returns for people where it went.
absl::StatusOr<std::string> CutTail(const std::string& path, std::uint64_t bytes);
// Renames a file to FILE.damaged, or FILE.damaged.2 and so on. Returns for people where it went.
absl::StatusOr<std::string> SetAside(const std::string& path);

}  // namespace tidemark::service
