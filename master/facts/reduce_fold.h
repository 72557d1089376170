// The part of the fold that takes reduce profiles: points, totals and explicit keys.
#pragma once

#include "absl/time/time.h"
#include "master/facts/clock_offset.h"
#include "master/facts/job_record.h"
#include "tidemark/event.h"

namespace tidemark::model {

// Folds `profile` into its `attempt`, the `groups` of its task and `state`'s job-wide evidence.
void FoldReduceProfile(const ReduceProfile& profile, const ClockOffset& clock,
                       absl::Time arrived_at, TaskAttempt& attempt, FinishedGroups& groups,
                       JobRecord& state);

// For a task that has finished: where tasks never get warm, what they do while cold is what they
// do.
void KeepColdBins(Task& task);

}  // namespace tidemark::model
