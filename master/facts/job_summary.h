// Summaries of a job for its future runs.
#pragma once

#include <optional>

#include "master/facts/job_record.h"
#include "tidemark/job_profile.h"
#include "tidemark/job_summary.h"

namespace tidemark::facts {

// Returns the summary of a job, except for JobSummary::run. O(tasks * size bins).
JobSummary Summarize(const JobRecord& state);

// Returns the job and data profile ([BOE] Table 1) of the finished attempts. The time of a reduce
// task counts from the end of the last map task, since its earlier wait is not work. Returns
// nullopt if no map task with known times has finished. `summary` is the result of
// Summarize(state). O(tasks).
std::optional<JobProfile> LearnProfile(const JobRecord& state, const JobSummary& summary);

}  // namespace tidemark::facts
