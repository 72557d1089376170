// Converts a Spark event log to a trace.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "bench/workflow/trace.h"

namespace tidemark::bench {

// Reads a log. The trace begins at the first submission of a job and ends at the end of the last
// job. A stage becomes visible together with its job. Failed attempts count as tasks, and stages
// without tasks are omitted. Returns the errors of spark::LogReader, or InvalidArgument if the log
// contains no job.
absl::StatusOr<Trace> ReadSparkLog(const std::string& path);

}  // namespace tidemark::bench
