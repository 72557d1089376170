// Converts the current state of the fold to the facts of a snapshot. The monitor adds the estimates
// (job_monitor.cc).
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
#include "master/facts/accuracy.h"
#include "master/facts/evidence_loss.h"
#include "master/facts/job_record.h"
#include "master/forecast/dag/shown_progress.h"
#include "master/forecast/durations/intervals.h"
#include "master/monitor/stages_estimate.h"
#include "tidemark/job.h"

namespace tidemark::monitor {

// Returns true if the stage is done, skipped, failed or ended without a known outcome.
bool HasEnded(const StageProgress& stage);

// Returns the state of a job or a group after an outcome.
JobState StateAfter(JobOutcome outcome);

// Counts the progress of the tasks of stages. The tasks of an ended stage are counted again only
// after an event about the stage. Not thread-safe. Memory: O(stages).
class StageCounts {
 public:
  // Returns the progress of a stage. REQUIRES: all calls are about the same job. The reference is
  // valid until the next call. O(tasks), or O(1) if the stage has ended and has been counted
  // since.
  const StageProgress& Of(const facts::Stage& stage, const facts::BeyondSlots& beyond);
  // Returns the number of tasks counted since the last call.
  std::size_t TakeSteps() { return std::exchange(steps_, 0); }

 private:
  struct OfStage {
    std::optional<std::uint64_t> revision;  // the counted revision of a stage that has ended
    StageProgress progress;
  };
  absl::flat_hash_map<std::uint32_t, OfStage> of_stages_;  // by number
  std::size_t steps_ = 0;
};

// Sets info, started_at, stages, silent_since, idle_since, coverage and notes (`notes`, then the
// notes of the fold). `counts` belongs to this job. Before `listening_since`, no master could
// receive events of the job. O(stages + tasks of the stages with events since the last call).
// REQUIRES: job.at and job.state are set, and the job is open.
void AddFacts(const facts::JobRecord& state, absl::Time listening_since,
              const std::vector<std::string>& notes, StageCounts& counts, Snapshot& job);

// Returns the reduce stage of a MapReduce job, or null if it has none.
StageProgress* ReduceStageOf(Snapshot& job);

// Returns the precision of an end that is predicted at `now` for work that started at `start`. The
// work is overdue if it is past its predicted end by more.
absl::Duration GraceAt(absl::Time now, absl::Time start);

// Raises the end of a guess, so that the remaining time is not far below its upper bound.
void RaiseGuess(facts::EndPrediction& prediction);

// Returns a forecast as an estimate without progress. `late`: time since the predicted end.
Estimate EstimateOf(const facts::EndPrediction& prediction, absl::Duration late,
                    absl::Duration grace);

// The published forecasts of the groups of one job. Not thread-safe. Memory: O(groups without
// success).
class GroupForecasts {
 public:
  // Adds the progress of the reported groups according to the facts at `now`, and chooses the
  // headline. `listened`: the part of a silence in which a master ran. REQUIRES: AddFacts() was
  // called, and the estimate of the job is set. O(stages + groups).
  void AddTo(const facts::JobRecord& state, const StagesEstimate& estimate, absl::Time now,
             absl::Duration listened, Snapshot& job);

  // For checkpoints (master/facts/checkpoint.h).
  template <class Archive>
  void serialize(Archive& archive) {
    archive(of_groups_, headline_, headline_record_);
  }

 private:
  struct OfGroup {
    dag::ShownProgress shown;
    durations::Overdue overdue;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(shown, overdue);
    }
  };
  struct Parts;

  // Sets the end and the progress of a running group.
  void Forecast(const StagesEstimate& estimate, absl::Time now, absl::Duration listened,
                const Parts& parts, Snapshot& job, Group& group);

  std::map<std::string, OfGroup> of_groups_;  // groups without success that had a forecast, by name
  std::string headline_;
  durations::IntervalRecord headline_record_;  // errors of the forecasts of headline_
};

// Adds the forecast starts and ends of open stages and of expected stages. The bounds are widened
// by the same factors as the bounds of the job. REQUIRES: the stages are in the order of their
// numbers.
void AddForecasts(const StagesEstimate& estimate, Snapshot& job);

// Clamps starts and ends of stages and groups to the end of their job. REQUIRES: the job has ended.
void EndPartsWithJob(Snapshot& job);

// Sets the fields that depend on other fields: the fractions at the bounds of the estimates, the
// known share, the number of parts, the rates, and the probability of being late. A reduce stage
// that has fetched counts as running. `known_share` is the known share of the remaining work, or
// nullopt if all work is known.
void Complete(std::optional<double> known_share, Snapshot& job);

}  // namespace tidemark::monitor
