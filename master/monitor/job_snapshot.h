// The facts that a monitor publishes of a job: what the fold knows at one instant, as a snapshot.
// What is estimated of them, a monitor adds (job_monitor.cc).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "master/model/job_state.h"
#include "master/monitor/stages_estimate.h"
#include "tidemark/job.h"

namespace tidemark::monitor {

// Adds to `job`, whose `at` and `state` are set, what it is, since when it runs, its stages, its
// silence, coverage and notes: `notes`, then those that the fold gives reason for. Pure. O(tasks).
// REQUIRES: the job is open.
void AddFacts(const model::JobState& state, const std::vector<std::string>& notes,
              next::Snapshot& job);

// The reduce stage of a MapReduce job; null: it has none.
next::StageProgress* ReduceStageOf(next::Snapshot& job);

// When the stages that have not ended will start and end. REQUIRES: stages by number.
void AddForecasts(const std::vector<StageForecast>& forecasts, next::Snapshot& job);

// Derives what follows from the rest of it: the fractions at the bounds of the estimates, what the
// estimate rests on, and how many parts there are. `known_share` of the work left; empty: all.
void Complete(const model::JobState& state, std::optional<double> known_share, next::Snapshot& job);

}  // namespace tidemark::monitor
