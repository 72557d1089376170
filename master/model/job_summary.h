// The state of a job boiled down to what its next run can use.
#pragma once

#include "master/model/job_state.h"
#include "tidemark/job_summary.h"

namespace tidemark::model {

// O(tasks · size bins).
JobSummary Summarize(const JobState& state);

}  // namespace tidemark::model
