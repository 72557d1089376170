// What a finished job's tasks took and turned out: the job and data profile of [BOE] Table 1.
#pragma once

#include <optional>

#include "master/facts/job_record.h"
#include "tidemark/job_profile.h"
#include "tidemark/job_summary.h"

namespace tidemark::model {

// From the attempts that finished. A reduce task's time counts from the end of the last map task
// on: what it waited for before says nothing of its own work. Empty: no map task finished whose
// times are known. `summary` is that of `state`. O(tasks).
std::optional<JobProfile> LearnProfile(const JobRecord& state, const JobSummary& summary);

}  // namespace tidemark::model
