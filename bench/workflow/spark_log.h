// Converts an event log of Spark to a trace.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "bench/workflow/trace.h"

namespace tidemark::bench {

// Covers the first submission of a job to the end of the last. A stage becomes visible with its
// job. Failed attempts count as tasks; stages without tasks are omitted. Returns the errors of
// spark::LogReader, and InvalidArgument without a job.
absl::StatusOr<Trace> ReadSparkLog(const std::string& path);

}  // namespace tidemark::bench
