// Measures the evidence about a job that was lost, and widens its interval accordingly.
//
// Lost evidence is key groups whose point did not fit into an agent's memory, and events that never
// arrived, were dropped before they were sent, or could not be read from a damaged log. Ends of
// tasks that other events prove missing (missing_ends.h) count, too: engines drop reports without a
// gap in their numbers. With
//   p = points dropped / key groups done
//   e = events lost / (events taken + lost), with about as many lost as a damaged log held
// the share of the evidence that is missing is 1 - (1 - p)(1 - e), 0..1.
#pragma once

#include "absl/time/time.h"
#include "master/facts/accuracy.h"
#include "master/facts/job_record.h"

namespace tidemark::model {

// O(tasks + sources).
double LostShare(const JobRecord& state);

// The prediction with an interval as wide as fewer independent observations make it: half-widths
// grow by 1 / sqrt(1 - share), at most tenfold. Without loss nothing changes, to the last bit.
EndPrediction WidenedFor(double lost_share, const EndPrediction& prediction);

// The part of the map tasks that are over whose profile is there, 0..1; 0 before any is over. A
// profile that may still be on its way is not missing yet: its task ended within the last 10 s, and
// the job has not. O(map tasks).
double MapProfilesKnown(const JobRecord& state, absl::Time now);

}  // namespace tidemark::model
