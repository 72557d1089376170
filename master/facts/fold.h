// Folds events into the state of a job.
#pragma once

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "master/facts/job_record.h"
#include "tidemark/event.h"
#include "tidemark/job_monitor.h"

namespace tidemark::facts {

// Returns OK if the event is part of the open run of the job, or if no run is open. Returns
// AlreadyExists if the event opens another run, and FailedPrecondition for other events of another
// run. `abandoned_at` is when the open run will count as abandoned unless it reports; the message
// states how long to wait. `listening_since` is the time before which no event could arrive.
absl::Status CheckRun(const Event& event, const JobRecord& state,
                      absl::Time abandoned_at = absl::InfiniteFuture(),
                      absl::Time listening_since = absl::InfinitePast());

// Folds one event into `state`. Returns OK if the event is accepted or ignored.
//
// `state.anomalies` counts accepted events that contradict earlier events: a late or repeated
// attempt state, a second map profile of a task, a changed JobOpened, StageOpened or executor, and
// decreasing totals. Other counters are for events of a newer sender (`unknown_events`), profiles
// of stages whose key groups are not estimated (`unused_profiles`), and steps of a source's clock
// (`clock_steps`).
//
// A duplicate event (sequence at or below the last) and any event after JobClosed are ignored.
//
// Errors change only the source's sequence and `rejected_events`: FailedPrecondition before the job
// is open, InvalidArgument for a task or partition that the job does not have, and
// ResourceExhausted above a limit. An error of CheckRun() changes nothing.
absl::Status Apply(const Event& event, const JobLimits& limits, JobRecord& state);

// Counts an event that was rejected before it could be parsed. If its source is known and its
// sequence is above 0, the event does not count as lost. Repetitions do not count.
void Refuse(const AcceptedSequence& event, const JobLimits& limits, JobRecord& state);

// Parts of Apply(), implemented in reduce_fold.cc.

// Folds `profile` into its `attempt`, into the `groups` of its task and into the evidence of the
// job.
void FoldReduceProfile(const ReduceProfile& profile, const ClockOffset& clock,
                       absl::Time arrived_at, TaskAttempt& attempt, FinishedGroups& groups,
                       JobRecord& state);
// Counts the cold bins of a finished task whose attempt never became warm, since the task has no
// other times.
void KeepColdBins(Task& task);

}  // namespace tidemark::facts
