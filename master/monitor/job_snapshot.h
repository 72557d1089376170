// Converts the state of the fold at one instant to the facts of a snapshot. The monitor adds the
// estimates (job_monitor.cc).
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
#include "master/facts/evidence_loss.h"
#include "master/facts/job_record.h"
#include "master/forecast/dag/shown_progress.h"
#include "master/monitor/stages_estimate.h"
#include "tidemark/job.h"

namespace tidemark::monitor {

// Returns the state of a job or a group after an outcome.
JobState StateAfter(JobOutcome outcome);

// Counts the progress of the tasks of stages. The tasks of a stage that has ended are counted again
// only after an event about it. Not thread-safe. Memory: O(stages).
class StageCounts {
 public:
  // Returns the progress of a stage. All calls are about the same job. The reference is valid until
  // the next call. O(tasks), or O(1) if the stage has ended and was counted since.
  const StageProgress& Of(const facts::Stage& stage, const facts::BeyondSlots& beyond);
  // Returns whether an attempt at one of its tasks ran when Of() counted them last, or true if Of()
  // does not count the stage. O(1).
  bool HasRunningAttempts(const facts::Stage& stage) const;
  // Returns the number of tasks counted since the last call.
  std::size_t TakeSteps() { return std::exchange(steps_, 0); }

 private:
  struct OfStage {
    std::optional<std::uint64_t> revision;  // the counted revision of a stage that has ended
    StageProgress progress;
    bool has_running_attempts = false;
  };
  absl::flat_hash_map<std::uint32_t, OfStage> of_stages_;  // by number
  std::size_t steps_ = 0;
};

// Sets info, started_at, stages, silent_since, coverage and notes: first `notes`, then the notes of
// the fold. `counts`: of this job. `listening_since`: the time before which no master could receive
// its events. O(stages + tasks of the stages with events since the last call).
// REQUIRES: job.at and job.state are set, and the job is open.
void AddFacts(const facts::JobRecord& state, absl::Time listening_since,
              const std::vector<std::string>& notes, StageCounts& counts, Snapshot& job);

// Returns the reduce stage of a MapReduce job, or null if it has none.
StageProgress* ReduceStageOf(Snapshot& job);

// Adds the progress of the reported groups, by the facts at `now`. `latest_ends`: state of the open
// groups, from call to call. REQUIRES: AddFacts() was called. O(stages + groups).
void AddGroups(const facts::JobRecord& state, const StagesEstimate& estimate, absl::Time now,
               std::map<std::string, dag::LatestEnd>& latest_ends, Snapshot& job);

// Adds the forecast starts and ends of open stages and of expected stages. The bounds are widened
// by the same factors as the bounds of the job. REQUIRES: stages by number.
void AddForecasts(const StagesEstimate& estimate, Snapshot& job);

// Moves the starts and ends of stages and groups after the end of their job to that end. REQUIRES:
// the job has ended.
void EndPartsWithJob(Snapshot& job);

// Sets the fractions at the bounds of the remaining time of a job that ended without success, so
// that the end shows the same confidence as the run. They are 0 and kRunningFractionMax if the end
// of an application has no bounds and `known_share` is below one half. `known_share` is nullopt for
// other jobs. REQUIRES: `remaining` is not reset yet.
void KeepBounds(std::optional<double> known_share, absl::Duration elapsed, Estimate& estimate);

// Sets the fields that follow from others: a reduce stage that has fetched runs; the fractions at
// the bounds of the estimates, unless KeepBounds() has set them; the known share of the remaining
// work; the probability of being late; the number of parts. `known_share`: share of the remaining
// work, unless the estimate is a guess; nullopt if all of it is known.
void Complete(std::optional<double> known_share, Snapshot& job);

}  // namespace tidemark::monitor
