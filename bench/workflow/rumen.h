// Jobs of a Rumen trace (concatenated JSON objects) as workflows of two stages: maps, then reduces.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/workflow/trace.h"

namespace tidemark::bench {

// Jobs that succeeded and have tasks with times; of map tasks with what they read. Slots of a job:
// the most of its attempts that ran at once. Reduce tasks start before the last map task ends, as
// they do in nearly all such jobs. `failed_too`: jobs that failed as well, with those of their
// tasks that succeeded.
absl::StatusOr<std::vector<Trace>> ReadRumen(const std::string& path, bool failed_too = false);

}  // namespace tidemark::bench
