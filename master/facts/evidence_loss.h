// Detects missing evidence about a job, such as silence, lost events, and tasks whose end was not
// reported.
//
// The functions are pure and take the state of the fold. Forecasts get wider intervals as more
// evidence is missing.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "master/facts/accuracy.h"
#include "master/facts/job_record.h"
#include "tidemark/job.h"

namespace tidemark::facts {

// --- silence ---
//
// While a task runs, a report is due at every report interval. A job that sends no events for three
// intervals is silent, since it may have ended without a report. The limit is 10 s if the interval
// is unknown, or if no task runs and therefore no report is due. A pause of up to 3 s is never a
// silence.
//
// A silence starts at the newest arrival, regardless of its cause. If the master was down, the
// job's progress is as unknown as that of an unreachable job. However, the published start of a
// silence (Snapshot::silent_since) is never before the restart of the master. Workflows use the
// same limits (dag::LiveWorkflow).

// Longest pause that is not a silence.
inline constexpr absl::Duration kShortestSilence = absl::Seconds(3);
// The limit if no report is due, or if the report interval is unknown.
inline constexpr absl::Duration kSilenceWithoutInterval = absl::Seconds(10);

// Returns the longest time between two reports of a running task that is not silent: three report
// intervals, and at least 10 s. O(1).
absl::Duration TaskSilence(const JobRecord& state);

// Returns how long the job has been silent at `now`. Returns zero if it is not silent, not open, or
// closed. O(tasks).
absl::Duration SilentFor(const JobRecord& state, absl::Time now);

// Returns the published start of a silence that began at `reported_at`: not before
// `listening_since`, when the master began to listen, and not after `now`.
absl::Time SilentSince(absl::Time reported_at, absl::Time listening_since, absl::Time now);

// Returns the remaining time during a silence of length `silence`. `left` is the estimate before
// it, and `unreported` the time since that estimate. The work may have continued or stopped.
// `listened` is the part of the silence in which the master could receive reports. By Laplace's
// rule, half of such silences last at least as long again, so the median is at least `listened`.
Range WidenForSilence(const Range& left, absl::Duration unreported, absl::Duration silence,
                      absl::Duration listened);
// Returns the upper bound that became `upper` when WidenForSilence() widened it for `silence`.
absl::Duration UpperBeforeSilence(absl::Duration upper, absl::Duration silence);

// --- lost events and points ---

// Returns the share of the evidence that is missing, 1 - (1 - p)(1 - e), in 0..1, with
//
//   p = points dropped / key groups done
//   e = events lost / (events taken + events lost)
//
// A point is dropped if it does not fit into an agent's memory. An event is lost if it never
// arrived, was dropped before sending, or was in the damaged part of a log. Missing task ends that
// follow from other events also count. O(tasks + sources).
double MissingEvidenceShare(const JobRecord& state);

// Returns the forecast with a wider interval, to account for fewer independent observations.
// Half-widths grow by 1 / sqrt(1 - share), at most tenfold. If nothing is lost, the forecast is
// unchanged to the last bit.
EndPrediction WidenForLoss(double missing_share, const EndPrediction& prediction);

// Returns the share of the finished map tasks whose profile is known, in 0..1, or 0 if no map task
// has finished. While the job runs, a profile counts as missing only 10 s after its task has ended.
// O(map tasks).
double MapProfilesKnown(const JobRecord& state, absl::Time now);

// --- ends that were not reported ---

// Returns how many tasks of the first attempt at a stage ended without a report. Returns 0 if no
// task was reported, or if the attempt has neither succeeded nor ended in an unknown way. O(1).
std::uint64_t UnreportedTasks(const Stage& stage);

// Returns Coverage::missing_task_ends. O(stages + tasks of stages that have not ended).
std::uint64_t MissingTaskEnds(const JobRecord& state);

// Attempts that are reported as running beyond the slots of their executor or stage.
struct BeyondSlots {
  // The surplus of running attempts (Coverage::tasks_beyond_slots).
  std::uint32_t count = 0;
  // The oldest attempts without activity in the last 10 s, at most as many as the surplus. These
  // attempts have ended without a report.
  absl::flat_hash_set<const TaskAttempt*> ended;
};

// Examines executors and stages that have had more running attempts than slots for 10 s.
// O(executors + stages), plus O(n log n) for n tasks of open stages if any executor or stage has a
// surplus.
BeyondSlots FindBeyondSlots(const JobRecord& state, absl::Time now);

// Returns true if a running attempt of `stage` may have ended without a report. This is possible
// if, since its last activity, events were lost or more attempts ran than there were slots. O(1).
bool MayHaveEnded(const JobRecord& state, const Stage& stage, const TaskAttempt& attempt,
                  absl::Time now);

}  // namespace tidemark::facts
