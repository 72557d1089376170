// A job of a workflow: its state, and its part in a forecast.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "master/facts/phases.h"
#include "master/forecast/dag/jobs_application.h"
#include "master/forecast/dag/shown_progress.h"
#include "master/forecast/durations/task_times.h"
#include "tidemark/job.h"
#include "tidemark/job_profile.h"
#include "tidemark/plan.h"

namespace tidemark::dag {

// The facts that a workflow keeps about a job, even after the master has removed the job.
struct JobFacts {
  ChildState state = ChildState::kPending;
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> ended_at;
  std::uint32_t failed_attempts = 0;
  std::string message;                     // reason of the last failure
  std::optional<absl::Duration> expected;  // estimated duration, just before the start
  friend bool operator==(const JobFacts&, const JobFacts&) = default;
};

// The part of the input of EstimateJobTasks() that may differ between two forecasts.
struct EstimateInput {
  std::optional<std::uint64_t> input_bytes;
  std::optional<std::uint32_t> map_task_count;
  std::uint32_t slots = 0;
  std::uint32_t nodes = 0;
  std::optional<ResourceProfile> node;
  double data_factor = 1;
  friend bool operator==(const EstimateInput&, const EstimateInput&) = default;
};

struct FollowedJob {
  std::string job_id;  // empty if no job is attached
  JobFacts facts;
  JobFacts kept;                                           // the facts as last stored
  std::shared_ptr<const Snapshot> newest;                  // null before its first report
  std::shared_ptr<const durations::RemainingStages> left;  // as of `newest`
  std::shared_ptr<const JobProfile> profile;               // null while the job runs, or if unknown
  bool is_attached = false;                                // attached after the submission
  bool ended_before = false;  // True if a run with this id had ended before the submission.
  ShownProgress shown;        // of the run in the workflow
  std::optional<absl::Time> awaited_since;
  double lag = 0;                            // LiveJob::lag
  std::optional<absl::Duration> would_take;  // last estimate of the duration, before the start
  bool has_runs = false;
  std::vector<JobProfile> runs;  // past runs, the newest first
  bool ran_stages = false;       // true if the runs are of an application of stages
  // The stages of the past runs. Null if they are not kept.
  std::shared_ptr<const StageRuns> stage_runs;
  // The last result of Expected(). Reset when `runs` changes.
  struct KnownEstimate {
    EstimateInput of;
    JobEstimate expected;
  };
  mutable std::optional<KnownEstimate> known;

  // Returns true if the job has succeeded, or has failed or been cancelled and cannot be retried.
  bool is_over() const;
  // Returns true if the job's run has ended, even if the job may be retried.
  bool has_ended() const { return is_over() || facts.state == ChildState::kRetryable; }
  // Returns true if the job has not started, or if it failed and may be retried.
  bool is_waiting() const;
  bool is_running() const { return facts.state == ChildState::kRunning; }
  // Returns true if the job's reports are overdue.
  bool is_silent() const { return newest != nullptr && newest->silent_since.has_value(); }
  // Returns how long the running job has been silent, or zero.
  absl::Duration Silence() const;
  // Returns the time of the job's last report, or InfinitePast() without one.
  absl::Time last_report_at() const;

  // Updates the facts from a newer snapshot of the run. `may_be_retried` is true if another job may
  // be attached after a failure.
  void Observe(std::shared_ptr<const Snapshot> snapshot,
               std::shared_ptr<const durations::RemainingStages> stages_left, bool may_be_retried);
  // Returns the ratio of the job's output to its output in the last past run. `input_growth` is the
  // same ratio for its input, which the result equals until the job has ended.
  double OutputGrowth(double input_growth) const;
  // Frees the data that only later snapshots of the workflow would need.
  void ReleaseRun();
  // Returns the basis of the job's estimate.
  Basis BasisOf(const PlannedJob& planned) const;
  // Returns EstimateJobTasks() for the past runs. `planned` is the job of the plan, of which only
  // `input_bytes` and `map_task_count` may change.
  const JobEstimate& Expected(const PlannedJob& planned, const Cluster& cluster,
                              double data_factor) const;
  LiveJob At(absl::Time now, const PlannedJob& planned, const Cluster& cluster,
             double data_factor) const;
};

// Returns the input and the output of all tasks of the job in bytes, or 0 if unknown.
double InputBytes(const JobProfile& run);
double OutputBytes(const JobProfile& run);

using facts::PhaseOf;

}  // namespace tidemark::dag
