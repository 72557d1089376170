// When a plan of stages would end, without a master: its task times are measured, or follow from
// the data of a task. Pure.
#pragma once

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tidemark/job_query.h"

namespace tidemark::cli {

// Whether all its jobs are described stage by stage. What a MapReduce job takes its earlier runs
// tell, which only a master has.
bool IsOfStages(const Plan& plan);

// As --policy takes it.
const char* NameOf(SchedulingPolicy policy);

// `deviation`: of the log of a factor on the whole of it that is not known, beside what runs of the
// same work differ by. REQUIRES: IsOfStages(plan), and the plan has passed CheckPlan(). A job's
// first stages wait for all stages of the jobs that it waits for. `at` is the instant of the
// snapshot. InvalidArgument names a stage of which a data rate is not known, or what of the
// scenario does not go with the plan.
absl::StatusOr<Outcome> EstimateStages(const Plan& plan, const Scenario& scenario, absl::Time at,
                                       double deviation = 0);

}  // namespace tidemark::cli
