// What would be of a job that runs, if so many of its tasks could run at once.
//
// The job keeps to its own forecast: on the slots that it has it ends as `newest` says. On others
// it takes so many times as long, and is as uncertain, as its tasks do that are left, placed there
// as in a workflow (jobs_application.h).
//
// Pure, and deterministic. Cost: twice that of EstimateJobs() for one job.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/cost/task_times.h"
#include "tidemark/job.h"

namespace tidemark::workflow {

// The job as it would be, of sequence 0: how long it takes yet and how likely it is late. Its
// stages and tasks are left out, since what is said of them is of the slots that it has.
//
// `left`: JobMonitor::stages_left() as of `newest`; null: only the numbers of its tasks are known.
// FailedPrecondition: nothing is predicted of it, or how many slots it has is not known now.
// REQUIRES: it has begun and has not ended; slots >= 1.
absl::StatusOr<Snapshot> JobOnSlots(std::shared_ptr<const Snapshot> newest,
                                    std::shared_ptr<const cost::StagesLeft> left,
                                    std::uint32_t slots, absl::Time now);

}  // namespace tidemark::workflow
