#include "master/forecast/dag/check_workflow.h"

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "tidemark/field_error.h"
#include "tidemark/limit.h"

namespace tidemark::workflow {

absl::Status CheckWorkflow(const Plan& plan, std::size_t jobs_max) {
  if (plan.id.empty()) return FieldError("id", "is missing");
  if (plan.jobs.size() > jobs_max) {
    return LimitExceeded("jobs_per_workflow",
                         absl::StrCat("workflow ", plan.id, " has ", plan.jobs.size(),
                                      " jobs; this master allows at most ", jobs_max));
  }
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
    if (plan.jobs[i].stages.empty()) continue;
    return FieldError(absl::StrCat("jobs[", i, "].stages"),
                      "must be empty: a master takes jobs that are described by their task "
                      "counts; `tidemark what-if` estimates stages without a master");
  }
  return CheckPlan(plan);
}

schedule::Parents ParentsOf(const Plan& plan) {
  absl::flat_hash_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) places[plan.jobs[i].name] = i;
  schedule::Parents parents(plan.jobs.size());
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
    for (const std::string& parent : plan.jobs[i].after) {
      parents[i].push_back(places.at(parent));
    }
  }
  return parents;
}

}  // namespace tidemark::workflow
