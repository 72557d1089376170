// Forecasts of a running job under other conditions.
//
// ForecastJobOnSlots() forecasts the job with another number of slots. On its own slots, the job
// ends as `newest` forecasts. On other slots, its remaining time is multiplied by the ratio of two
// placements of its remaining tasks (jobs_application.h). The ratio of the medians applies to the
// median, and the ratio of each bound applies to that bound. The ratios may differ because a
// running task may determine the end on any number of slots.
//
// Pure and deterministic. Costs twice as much as ForecastJobs() for one job.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/facts/lost_time.h"
#include "master/forecast/dag/application_forecast.h"
#include "master/forecast/durations/task_times.h"
#include "tidemark/job.h"
#include "tidemark/job_query.h"

namespace tidemark::dag {

// The resources that a job has now; 0 if unknown.
struct HeldSlots {
  std::uint32_t slots = 0;
  std::uint32_t executors = 0;
};

// Returns the slots of a job. `left` is JobMonitor::stages_left() as of `newest`, or null if only
// the numbers of its tasks are known. O(stages).
HeldSlots SlotsHeld(std::shared_ptr<const Snapshot> newest,
                    std::shared_ptr<const durations::RemainingStages> left, absl::Time now);

// Returns the gain of equal tasks ([BOE] Theorem 1) for the stage with the largest gain. Returns
// nullopt if no stage has two or more pending tasks of known sizes, or for one slot. O(tasks x
// draws).
std::optional<SkewGain> SkewGainOf(const durations::RemainingStages& left, std::uint64_t slots);

// Returns the remaining tasks of the job on its own slots, so that its end agrees with its
// forecast. The first two stages are its start and end (MapStageOf(), ReduceStageOf()) and have no
// tasks.
//
// Fails with FailedPrecondition if the job has no forecast, or if its slots or task times are
// unknown now. REQUIRES: the job has started and has not ended. Costs as much as
// ApplicationOfJobs().
absl::StatusOr<Application> CurrentApplication(
    std::shared_ptr<const Snapshot> newest, std::shared_ptr<const durations::RemainingStages> left,
    absl::Time now);

// Returns the forecast of the job under `scenario`, as a snapshot of sequence 0 with its remaining
// time and its probability of being late. The snapshot omits stages and tasks, since their
// forecasts are for the present slots. Running tasks continue, even if the scenario has fewer
// slots. Additional slots are available immediately and have run no task.
//
// Fails with FailedPrecondition if the job has no forecast, or if its slots or executors are
// unknown now. Fails with InvalidArgument (FieldError) if the executors would have more than
// 1,000,000 slots. REQUIRES: the job has started and has not ended; `scenario` has at least 1 slot
// or executor.
absl::StatusOr<Outcome> ForecastJobOnSlots(std::shared_ptr<const Snapshot> newest,
                                           std::shared_ptr<const durations::RemainingStages> left,
                                           const Scenario& scenario, absl::Time now);

// TimeSavedWithout() forecasts how much sooner a running job would end if one query caused no
// contention.
//
// The remaining tasks of the job are placed twice on its slots. The first placement uses the times
// of its forecast. The second subtracts the share of time that tasks of the same stage have lost so
// far. The forecast assumes that the contention continues.
//
// Pure and deterministic. Costs as much as ForecastJobs() for one job, plus three times as much for
// each query.

// Returns for each query how many seconds its absence would save. `lost` is the time lost to each
// query. Each result has 0 <= lower <= median <= upper. The bounds are computed from the lower and
// upper shares and from the 90 % interval of the forecast. A stage without started tasks has no
// known loss. The lower bound and the median assume a loss of zero for such a stage; the upper
// bound assumes the share of all other stages together.
//
// Fails with FailedPrecondition if the job has no forecast, or if its slots or task times are
// unknown. REQUIRES: the job has started and has not ended. `left` is JobMonitor::stages_left() as
// of `newest`.
absl::StatusOr<std::vector<SecondsRange>> TimeSavedWithout(
    std::shared_ptr<const Snapshot> newest, std::shared_ptr<const durations::RemainingStages> left,
    std::span<const facts::LostTime> lost, absl::Time now);

}  // namespace tidemark::dag
