// Whether a job has fallen silent.
//
// While a task runs somebody owes a report on it, so a job of which nothing was heard for three
// report intervals may have died without a word: it is silent. Where the interval is not known yet,
// and while no task runs and so no report is due, ten seconds without news are silence. A silence
// of less than three seconds is not worth a word, whatever the interval.
//
// It lasts since the newest arrival, whatever the cause: what a job did while its master was away
// is as unknown as what it does while it cannot be reached. What people are told counts from the
// master's restart (Snapshot::silent_since), since it is not the job that was away.
//
// A workflow falls silent by the same times, with its jobs: workflow::LiveWorkflow.
#pragma once

#include "absl/time/time.h"
#include "master/facts/job_record.h"
#include "tidemark/job.h"

namespace tidemark::model {

// No pause up to this is a silence.
inline constexpr absl::Duration kShortestSilence = absl::Seconds(3);
// Nor is one up to this where no report is due, or nobody knows how often one is.
inline constexpr absl::Duration kWithoutInterval = absl::Seconds(10);

// How long the job has been silent at `now`; zero when it is not silent, not open or over.
// O(tasks).
absl::Duration SilentFor(const JobRecord& state, absl::Time now);

// Since when people are told that something is silent that was last heard of at `heard_at`: not
// before `listening_since`, when the master began to listen, and not after `now`.
absl::Time SilentSince(absl::Time heard_at, absl::Time listening_since, absl::Time now);

// What was left when something could last be estimated, as it is said `unheard` later, when it has
// been silent for `silence`: it may have gone on unheard, or be about to hang for ever. The median
// stays, since nothing tells how long it takes until there is news.
Range OpenedBySilence(const Range& left, absl::Duration unheard, absl::Duration silence);

}  // namespace tidemark::model
