// state = fold(events).
#pragma once

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "master/facts/job_record.h"
#include "tidemark/event.h"
#include "tidemark/job_monitor.h"

namespace tidemark::facts {

// Returns OK if the event is part of the open run of the job, or if none is open. Returns
// AlreadyExists if it opens another run, and FailedPrecondition for other events of another run.
// `abandoned_at`: when the open run counts as abandoned unless it reports; the message states
// how long to wait for a silent run. `listening_since`: the time before which no event could
// arrive.
absl::Status CheckRun(const Event& event, const JobRecord& state,
                      absl::Time abandoned_at = absl::InfiniteFuture(),
                      absl::Time listening_since = absl::InfinitePast());

// Folds one event into `state`. Returns OK if the event is accepted or ignored.
//
// Accepted, and counted in `state.anomalies`: a late or repeated attempt state, a second map
// profile of a task, a JobOpened or StageOpened that contradicts the first, an executor that
// changes, totals that shrink. Counted elsewhere: events of a newer sender (`unknown_events`), key
// groups of stages without an estimate of them (`unused_profiles`), steps of a source's clock
// (`clock_steps`).
//
// Ignored: a duplicate event (sequence at or below the last), and any event after JobClosed.
//
// Errors change only the source's sequence and `rejected_events`: FailedPrecondition before the job
// is open, InvalidArgument for a task or partition that the job does not have, ResourceExhausted
// over a limit. An error of CheckRun() changes nothing.
absl::Status Apply(const Event& event, const JobLimits& limits, JobRecord& state);

// Counts an event that was rejected before it could be parsed. If its source and sequence (above 0)
// are known, the event is not lost, and counts once.
void Refuse(const AcceptedSequence& event, const JobLimits& limits, JobRecord& state);

// Parts of Apply(), in reduce_fold.cc.

// Folds `profile` into its `attempt`, into the `groups` of its task and into the evidence of the
// job.
void FoldReduceProfile(const ReduceProfile& profile, const ClockOffset& clock,
                       absl::Time arrived_at, TaskAttempt& attempt, FinishedGroups& groups,
                       JobRecord& state);
// Counts the cold bins of a finished task whose attempt never became warm: its times while cold are
// all of its times.
void KeepColdBins(Task& task);

}  // namespace tidemark::facts
