// The state of a job boiled down to what its next run can use.
#pragma once

#include "master/facts/job_record.h"
#include "tidemark/job_summary.h"

namespace tidemark::model {

// O(tasks · size bins).
JobSummary Summarize(const JobRecord& state);

}  // namespace tidemark::model
