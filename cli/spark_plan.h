// A run of an application of Spark as a plan: what if it ran again, elsewhere, or otherwise set?
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "spark/measured_stages.h"
#include "tidemark/plan.h"

namespace tidemark::cli {

// Whether there is an event log of Spark at `path`. Reads its beginning.
bool IsSparkLog(const std::string& path);

struct SparkRun {
  // One job with the stages that ran, their task times by warmth, and as many slots as it had.
  Plan plan;
  std::vector<std::uint32_t> numbers;  // Spark's, of its stages
  spark::MeasuredStages measured;
  std::vector<std::string> remarks;  // RemarksOn() the log
};
// Errors: those of spark::LogReader; FailedPrecondition: no task of it has ended.
absl::StatusOr<SparkRun> ReadSparkRun(const std::string& path);

// The run with other settings of Spark.
struct OtherRun {
  Plan plan;  // its task times are those that the models of phases expect
  // That it would run on; those of the plan are the ones it was measured on.
  std::uint32_t slots = 1;
  // Of the log of a factor on the whole of it, for what the models do not know.
  double deviation = 0;
  std::vector<std::string> remarks;  // for people: what they do not know
};

// `changes`: settings as of spark-submit --conf. Errors, which name the setting: one that no model
// knows, a value that cannot be, a version of Spark or a number of executors that the log does not
// tell; FailedPrecondition: the log has no metrics of tasks.
absl::StatusOr<OtherRun> WithSettings(const SparkRun& run,
                                      const std::map<std::string, std::string>& changes);

}  // namespace tidemark::cli
