// A run of an application of Spark as a plan: what if it ran again, elsewhere?
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tidemark/plan.h"

namespace tidemark::cli {

// Whether there is an event log of Spark at `path`. Reads its beginning.
bool IsSparkLog(const std::string& path);

struct SparkLogPlan {
  Plan plan;
  std::vector<std::string> remarks;  // RemarksOn() the log
};

// One job with the stages that ran, their task times by warmth, and as many slots as it had.
// Errors: those of spark::LogReader; FailedPrecondition: no task of it has ended.
absl::StatusOr<SparkLogPlan> PlanOfSparkLog(const std::string& path);

}  // namespace tidemark::cli
