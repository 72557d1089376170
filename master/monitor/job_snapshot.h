// The facts that a monitor publishes of a job: what the fold knows at one instant, as a snapshot.
// What is estimated of them, a monitor adds (job_monitor.cc).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "master/model/job_record.h"
#include "master/model/shown_progress.h"
#include "master/monitor/stages_estimate.h"
#include "tidemark/job.h"

namespace tidemark::monitor {

// The state of a job or a group that ended so.
JobState StateAfter(JobOutcome outcome);

// Fills in info, started_at, stages, silent_since, coverage and notes: first `notes`, then what the
// fold has to say. `listening_since`: before, no master could hear it. Pure. O(tasks). REQUIRES:
// job.at and job.state are set, and the job is open.
void AddFacts(const model::JobRecord& state, absl::Time listening_since,
              const std::vector<std::string>& notes, Snapshot& job);

// The reduce stage of a MapReduce job; null: it has none.
StageProgress* ReduceStageOf(Snapshot& job);

// How far the groups are that the engine has told of, by what was known at `now`. `latest_ends`: of
// groups that have not ended, from call to call. After AddFacts(). O(stages + groups).
void AddGroups(const model::JobRecord& state, const StagesEstimate& estimate, absl::Time now,
               std::map<std::string, model::LatestEnd>& latest_ends, Snapshot& job);

// When the stages that have not ended will start and end, and those that are expected to come. The
// bounds are wider than estimated by as much as those of the job. REQUIRES: stages by number.
void AddForecasts(const StagesEstimate& estimate, Snapshot& job);

// The fractions at the bounds of what was left of a job when it ended without success, so that its
// end looks no surer than the run did; 0..kRunningFractionMax where nothing bounds an application
// of which less than half is known, by `known_share`; empty: it is none. Before `remaining` is
// reset.
void KeepBounds(std::optional<double> known_share, absl::Duration elapsed, Estimate& estimate);

// Fills in what follows from the rest: that a reduce stage which has fetched runs, the fractions at
// the bounds of the estimates unless KeepBounds() has, how much of the work left is known, how
// likely it is late, and how many parts there are. `known_share`: of the work left, unless the
// estimate is a guess; empty: all of it is known.
void Complete(std::optional<double> known_share, Snapshot& job);

}  // namespace tidemark::monitor
