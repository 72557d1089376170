// A job of a workflow as the workflow's snapshot shows it: a child and its stages.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "master/forecast/dag/followed_job.h"
#include "master/forecast/dag/workflow_prediction.h"
#include "tidemark/job.h"
#include "tidemark/plan.h"

namespace tidemark::workflow {

// Adds `job`, which waits for the jobs at `parents`, to the children of `workflow`. Adds its
// stages, too: as the job reports them once it has begun, before that the expected ones.
// Predictions are not rounded. O(parents + stages).
void DescribeJob(const FollowedJob& job, const PlannedJob& planned,
                 const std::vector<std::size_t>& parents, const JobPrediction& prediction,
                 Snapshot& workflow);

// What a person should know of the job called `name`: that it is silent, or missed. Empty: nothing.
std::string NoteOnJob(const FollowedJob& job, const std::string& name, absl::Time now);

}  // namespace tidemark::workflow
