// A plan that is described in YAML or JSON: jobs, stages, or both.
//
// The schema is tidemark.v1.Plan (proto/tidemark/v1/plan.proto) itself, by the names of its
// fields, with shorter names for what people write often; docs/plans.md has them all:
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
// A list of one may be written as its element, durations are seconds or text such as "90s" or
// "1h30m", and `stages` at the top level are those of the only job.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "tidemark/plan.h"

namespace tidemark::cli {

enum class PlanUse {
  kEstimate,  // `id` may be missing
  kSubmit,
  kAdd,  // to a plan that runs: jobs only, which may wait for jobs of that plan
};

// InvalidArgument "line LINE: PATH: WHAT" names the first thing that is wrong, by the names that
// the file uses: an unknown field, with the one that was meant; a value of another type; and
// everything that a master would refuse (CheckPlan()).
absl::StatusOr<Plan> ParsePlanFile(const std::string& text, PlanUse use);
// The same; errors name the file. NotFound: it cannot be read.
absl::StatusOr<Plan> ReadPlanFile(const std::string& path, PlanUse use);
// What a master said about the plan of that file ("add_jobs[0].queue: is missing"), with file, line
// and the names that the file uses; any other error as it is.
absl::Status InPlanFile(const std::string& path, const absl::Status& error);

}  // namespace tidemark::cli
