// Reads the jobs of a Rumen trace (concatenated JSON objects) as workflows with two stages, map and
// reduce.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/workflow/trace.h"

namespace tidemark::bench {

// Returns successful jobs with their timed tasks and the input of map tasks. The number of slots of
// a job is its maximum number of concurrent attempts. Reduce tasks start before the last map task
// ends, as in nearly all such jobs. If `failed_too` is true, also returns failed jobs with their
// successful tasks.
absl::StatusOr<std::vector<Trace>> ReadRumen(const std::string& path, bool failed_too = false);

}  // namespace tidemark::bench
