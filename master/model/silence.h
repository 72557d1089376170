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
#pragma once

#include "absl/time/time.h"
#include "master/model/job_record.h"

namespace tidemark::model {

// How long the job has been silent at `now`; zero when it is not silent, not open or over.
// O(tasks).
absl::Duration SilentFor(const JobRecord& state, absl::Time now);

}  // namespace tidemark::model
