// Parses plans of jobs and stages in YAML or JSON.
//
// The schema is tidemark.v1.Plan (proto/tidemark/v1/plan.proto) with short names for common fields;
// docs/plans.md lists them:
//
//   id: visits-17
//   cluster: {slots: 16, policy: capacity, queues: {etl: 3, adhoc: 1}}
//   jobs:
//     - {name: parse, maps: 12, input_bytes: 4e9, queue: etl}
//     - name: report
//       after: parse
//       queue: adhoc
//       stages: [{name: scan, tasks: 40, task_seconds: [11, 12]}]
//
// A list of one element may be written as the element. Durations are seconds or text such as "90s"
// or "1h30m". `stages` at the top level belong to the only job.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "tidemark/plan.h"

namespace tidemark::cli {

enum class PlanUse {
  kEstimate,  // `id` is optional
  kSubmit,
  kAdd,  // jobs for a running plan, which may wait for jobs of that plan
};

// Parses a plan. Returns InvalidArgument for the first error, "line LINE: PATH: WHAT" in the names
// of the file: an unknown field, with a suggestion; a value of another type; or a plan that a
// master would reject (CheckPlan()).
absl::StatusOr<Plan> ParsePlanFile(const std::string& text, PlanUse use);
// Reads and parses a file. Errors name the file. Returns NotFound if it cannot be read.
absl::StatusOr<Plan> ReadPlanFile(const std::string& path, PlanUse use);
// Returns the error of a master about the plan of a file ("add_jobs[0].queue: is missing") with
// file, line and the names of the file. Returns any other error unchanged.
absl::Status InPlanFile(const std::string& path, const absl::Status& error);

}  // namespace tidemark::cli
