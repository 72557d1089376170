// How much sooner a job that runs would end if nobody took from its tasks what one query does.
//
// Its tasks that are left are placed twice on the slots that it has: with the times that its
// forecast gives them, and with these less the part that tasks of the same stage lost so far. The
// forecast takes that query to go on as it has, so this is compared with its going on.
//
// Pure, and deterministic. Cost: that of EstimateJobs() for one job, and three times that for each
// query.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/facts/lost_time.h"
#include "master/forecast/dag/application_estimate.h"
#include "master/forecast/durations/task_times.h"
#include "tidemark/job.h"

namespace tidemark::workflow {

// Without each query in turn, to which `lost` was lost: seconds, 0 <= lower <= median <= upper:
// with the lower and upper parts, and within 90 % of what the forecast holds for possible. Stages
// that have run no task have lost nothing that is known: they gain nothing, but at most as all
// others together.
//
// FailedPrecondition: nothing is predicted of the job, or its slots or the times of its tasks are
// not known. REQUIRES: it has begun and has not ended. `left`: JobMonitor::stages_left() as of
// `newest`.
absl::StatusOr<std::vector<estimate::Range>> SoonerWithout(
    std::shared_ptr<const Snapshot> newest, std::shared_ptr<const cost::StagesLeft> left,
    std::span<const model::LostTime> lost, absl::Time now);

}  // namespace tidemark::workflow
