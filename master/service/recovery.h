// Reads a data directory after a master has ended, in whatever way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "master/store/restore.h"

namespace tidemark::service {

struct RecoveredJobs {
  std::vector<store::RestoredJob> jobs;  // in the order in which they were opened
  std::vector<std::string> damages;      // what was cut off or set aside, and why
};

// Restores every *.tidemark-log of `directory` on `threads` threads. What follows the last whole
// record of a log is moved to LOG.cut; a log that cannot be used at all becomes LOG.damaged. Both
// are for people: nothing reads them. Errors: the directory cannot be read, or such a file cannot
// be written.
absl::StatusOr<RecoveredJobs> RecoverJobs(const std::string& directory, std::size_t threads);

// The steps of it, for logs of another kind: the files of `directory` that end in `extension`, by
// name; what follows the first `bytes` of a log moved to LOG.cut; a log renamed to LOG.damaged.
absl::StatusOr<std::vector<std::string>> FilesWith(const std::string& directory,
                                                   const std::string& extension);
absl::Status CutTail(const std::string& path, std::uint64_t bytes);
absl::Status SetAside(const std::string& path);

}  // namespace tidemark::service
