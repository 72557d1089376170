// One job of a workflow: what is known of it, and the part that an estimate needs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "master/facts/phases.h"
#include "master/forecast/dag/jobs_application.h"
#include "master/forecast/durations/task_times.h"
#include "tidemark/job.h"
#include "tidemark/job_profile.h"
#include "tidemark/plan.h"

namespace tidemark::workflow {

// What a workflow keeps of a job, also once the job is forgotten.
struct JobFacts {
  ChildState state = ChildState::kPending;
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> ended_at;
  std::uint32_t failed_attempts = 0;
  std::string message;                     // why the last of them failed
  std::optional<absl::Duration> expected;  // what it was to take, the moment before it began
  friend bool operator==(const JobFacts&, const JobFacts&) = default;
};

struct FollowedJob {
  std::string job_id;  // empty: none is attached
  JobFacts facts;
  JobFacts kept;                                 // of `facts`, what was handed out
  std::shared_ptr<const Snapshot> newest;        // null: it has not reported yet
  std::shared_ptr<const cost::StagesLeft> left;  // as of `newest`
  bool is_attached = false;                      // after the submission
  bool ended_before = false;  // a run of its id had ended when the plan was submitted
  std::optional<absl::Time> awaited_since;
  std::optional<absl::Duration> would_take;  // by the last estimate before it began
  double own_bar = 0;  // what it showed itself, if it was silent when it was first followed
  bool has_runs = false;
  std::vector<JobProfile> runs;  // earlier ones, the most recent first
  bool ran_stages = false;       // they are of an application of stages, each as one phase
  // Of such an application, the stages; null: not kept.
  std::shared_ptr<const StageRuns> stage_runs;

  // It has succeeded or will never do so.
  bool is_over() const;
  // It has ended, for good or until it is replaced.
  bool has_ended() const { return is_over() || facts.state == ChildState::kRetryable; }
  // It has not begun, or it failed and may be replaced.
  bool is_waiting() const;
  bool is_running() const { return facts.state == ChildState::kRunning; }
  // Its reports are overdue.
  bool is_silent() const { return newest != nullptr && newest->silent_since.has_value(); }
  // When it was last heard of, whoever was away since; InfinitePast: not yet.
  absl::Time heard_at() const;

  // Takes note of a newer snapshot of its run: whether and how it has begun and ended.
  // `may_be_retried`: another may be attached in its place if it fails.
  void Observe(std::shared_ptr<const Snapshot> snapshot,
               std::shared_ptr<const cost::StagesLeft> stages_left, bool may_be_retried);
  // Frees what only later snapshots of the workflow would need.
  void ForgetRun();
  // What an estimate of it rests on.
  Basis BasisOf(const PlannedJob& planned) const;
  LiveJob At(absl::Time now, const PlannedJob& planned, const Cluster& cluster,
             double data_factor) const;
};

using model::PhaseOf;

}  // namespace tidemark::workflow
