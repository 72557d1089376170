// The facts that a monitor publishes about a job: the state of the fold at one instant, as a
// snapshot. The monitor adds the estimates (job_monitor.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "master/facts/job_record.h"
#include "master/facts/missing_ends.h"
#include "master/forecast/dag/shown_progress.h"
#include "master/monitor/stages_estimate.h"
#include "tidemark/job.h"

namespace tidemark::monitor {

// The state of a job or a group that ended so.
JobState StateAfter(JobOutcome outcome);

// Counts how far the tasks of stages are. The tasks of a stage that has ended are counted once,
// unless an event is about it later. Not thread-safe. Memory: O(stages).
class StageCounts {
 public:
  // Returns how far a stage of the job is. All calls are about the same job. The reference stays
  // valid until the next call. O(tasks), or O(1) if the stage has ended and was counted since.
  const StageProgress& Of(const model::Stage& stage, const model::BeyondSlots& beyond);
  // Returns whether an attempt at one of its tasks ran when Of() counted them last. O(1).
  bool HasRunningAttempts(const model::Stage& stage) const;
  // Returns how many tasks were counted since the last call.
  std::size_t TakeSteps() { return std::exchange(steps_, 0); }

 private:
  struct OfStage {
    std::optional<std::uint64_t> revision;  // of a stage that has ended, as it was counted
    StageProgress progress;
    bool has_running_attempts = false;
  };
  absl::flat_hash_map<std::uint32_t, OfStage> of_stages_;  // by number
  std::size_t steps_ = 0;
};

// Fills in info, started_at, stages, silent_since, coverage and notes: first `notes`, then the
// notes of the fold. `counts`: of this job. `listening_since`: the time before which no master
// could receive its events. O(stages + tasks of the stages with events since the last call).
// REQUIRES: job.at and job.state are set, and the job is open.
void AddFacts(const model::JobRecord& state, absl::Time listening_since,
              const std::vector<std::string>& notes, StageCounts& counts, Snapshot& job);

// Returns the reduce stage of a MapReduce job, or null if it has none.
StageProgress* ReduceStageOf(Snapshot& job);

// Adds the progress of the groups that the engine has reported, by the facts known at `now`.
// `latest_ends`: of groups that have not ended, from call to call. Call it after AddFacts().
// O(stages + groups).
void AddGroups(const model::JobRecord& state, const StagesEstimate& estimate, absl::Time now,
               std::map<std::string, model::LatestEnd>& latest_ends, Snapshot& job);

// Adds the forecast start and end of the stages that have not ended and of expected stages. The
// bounds are widened by as much as the bounds of the job. REQUIRES: stages by number.
void AddForecasts(const StagesEstimate& estimate, Snapshot& job);

// Moves the starts and ends of stages and groups that are after the end of their job to its end.
// REQUIRES: the job has ended.
void EndPartsWithJob(Snapshot& job);

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
