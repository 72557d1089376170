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
  kAdd,  // contains jobs for a running plan, which may wait for jobs of that plan
};

// Parses a plan. Fails with InvalidArgument for the first error, "line LINE: PATH: WHAT" in the
// names of the file: an unknown field, with a suggestion; a value of another type; or a plan that a
// master would reject (CheckPlan()).
absl::StatusOr<Plan> ParsePlanFile(const std::string& text, PlanUse use);
// Reads and parses a file. Fails with NotFound if the file cannot be read. Errors name the file.
absl::StatusOr<Plan> ReadPlanFile(const std::string& path, PlanUse use);
// Converts a master's error about a file's plan ("add_jobs[0].queue: is missing") to an error with
// file, line and the names used in the file. Returns any other error unchanged.
absl::Status InPlanFile(const std::string& path, const absl::Status& error);

}  // namespace tidemark::cli
