// An event log of Spark as a trace.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "bench/workflow/trace.h"

namespace tidemark::bench {

// From the first submission of a job to the end of the last. A stage becomes visible with the job
// that brings it. Failed attempts count as tasks that took their time; stages without
// tasks are left out. Errors: those of spark::LogReader; InvalidArgument: no job.
absl::StatusOr<Trace> ReadSparkLog(const std::string& path);

}  // namespace tidemark::bench
