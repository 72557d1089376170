// What would be of a job that runs, if so many of its tasks could run at once.
//
// The job keeps to its own forecast: on the slots that it has it ends as `newest` says. On others
// it takes so many times as long as its tasks do that are left, placed there as in a workflow
// (jobs_application.h): the median by the medians, each bound by that bound, since a task that runs
// already may decide the end whatever there is beside it.
//
// Pure, and deterministic. Cost: twice that of EstimateJobs() for one job.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/forecast/dag/application_estimate.h"
#include "master/forecast/durations/task_times.h"
#include "tidemark/job.h"
#include "tidemark/job_query.h"

namespace tidemark::workflow {

// What a job has now; 0: not known.
struct HeldSlots {
  std::uint32_t slots = 0;
  std::uint32_t executors = 0;
};

// `left`: JobMonitor::stages_left() as of `newest`; null: only the numbers of its tasks are known.
// Cost: O(stages).
HeldSlots SlotsHeld(std::shared_ptr<const Snapshot> newest,
                    std::shared_ptr<const cost::StagesLeft> left, absl::Time now);

// The tasks that it has left, on the slots that it has, so that it ends as its forecast says;
// before them the two stages of its beginning and end (MapStageOf(), ReduceStageOf()), which have
// none.
//
// FailedPrecondition: nothing is predicted of it, how many slots it has is not known now, or what
// its tasks take is not. REQUIRES: it has begun and has not ended. Cost: that of
// ApplicationOfJobs().
absl::StatusOr<estimate::Application> JobAsItIs(std::shared_ptr<const Snapshot> newest,
                                                std::shared_ptr<const cost::StagesLeft> left,
                                                absl::Time now);

// The job as it would be, of sequence 0: how long it takes yet and how likely it is late. Its
// stages and tasks are left out, since what is said of them is of the slots that it has. Tasks that
// run go on where they are, also when fewer may run from now on; slots beyond those that it has are
// there at once and have run nothing.
//
// FailedPrecondition: nothing is predicted of it, or how many slots or executors it has is not
// known now. InvalidArgument (FieldError): the executors would have more than 1,000,000 slots.
// REQUIRES: it has begun and has not ended; `scenario` has slots or executors, of at least 1.
absl::StatusOr<Outcome> JobOnSlots(std::shared_ptr<const Snapshot> newest,
                                   std::shared_ptr<const cost::StagesLeft> left,
                                   const Scenario& scenario, absl::Time now);

}  // namespace tidemark::workflow
