// Estimates the end of a plan of stages without a master. Task times are measured, or computed from
// the data of a task. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tidemark/job_query.h"

namespace tidemark::whatif {

// Returns true if the plan describes all of its jobs stage by stage. The times of a MapReduce job
// come from its past runs, which only a master has.
bool IsOfStages(const Plan& plan);

// Returns the number of slots on which tasks of the stage can run; at least 1.
std::uint64_t SlotsFor(const PlannedStage& stage, std::uint32_t slots);

// Returns the name of the policy, as in --policy.
const char* NameOf(SchedulingPolicy policy);

// Returns the end of the plan in the scenario. The first stages of a job wait for all stages of the
// jobs before it. `at` is the time of the snapshot. `deviation` is the standard deviation of
// ln(duration) in addition to the differences between runs of the same work. Returns
// InvalidArgument if the data rate of a stage is unknown or the scenario contradicts the plan.
// REQUIRES: IsOfStages(plan), and CheckPlan(plan) succeeds.
absl::StatusOr<Outcome> EstimateStages(const Plan& plan, const Scenario& scenario, absl::Time at,
                                       double deviation = 0);

// Returns a sentence on the gain of tasks of equal size.
std::string SkewRemark(const std::string& stage, double lower_seconds, double upper_seconds);

// Returns a sentence for each critical stage that would end earlier with tasks of equal size. Each
// sentence gives the bounds of [BOE] Theorem 1 for the measured task times. Omits stages whose
// upper bound is below a tenth of the plan's duration. Returns at most three sentences, largest
// gain first. `outcome` is the estimate of `plan`.
std::vector<std::string> SkewRemarks(const Plan& plan, const Outcome& outcome);

}  // namespace tidemark::whatif
