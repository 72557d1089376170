// state = fold(events).
#pragma once

#include "absl/status/status.h"
#include "master/facts/job_record.h"
#include "tidemark/event.h"
#include "tidemark/job_monitor.h"

namespace tidemark::model {

// OK, unless the event says that it is of another run of the job than the one that was opened:
// AlreadyExists if it opens that run, else FailedPrecondition. `given_up_at`: when the run that was
// opened is given up unless it reports; tells an engine how long a silent one is waited for.
// `listening_since`: nothing could be heard of it before.
absl::Status CheckRun(const Event& event, const JobRecord& state,
                      absl::Time given_up_at = absl::InfiniteFuture(),
                      absl::Time listening_since = absl::InfinitePast());

// Folds one event into `state`.
//
// Tolerant, and counted in `state.anomalies`: a late or repeated attempt state, a second map
// profile of a task, a JobOpened or StageOpened that contradicts the first, an executor that
// changes, totals that shrink. Counted in `state.unknown_events`: what a newer sender says; in
// `unused_profiles`: key groups of stages that have no estimate of them. Ignored: a duplicate event
// (sequence at or below the last), any event after JobClosed. Refused, with nothing changed but the
// source's sequence and `rejected_events`: FailedPrecondition before the job is open,
// InvalidArgument for a task or partition that the job does not have, ResourceExhausted over a
// limit. Refused with nothing changed at all: what CheckRun() refuses.
absl::Status Apply(const Event& event, const JobLimits& limits, JobRecord& state);

// Counts an event that was refused before it could be understood. Where it names its source and
// sequence (above 0) it was heard, so it is not lost, and counts once.
void Refuse(const AcceptedSequence& event, const JobLimits& limits, JobRecord& state);

}  // namespace tidemark::model
