// One submitted workflow watched without a server, a thread or a clock: what was submitted, which
// jobs were attached, what those jobs say, and ticks go in; snapshots come out.
//
// A job's times of finished runs come from outside (SetRuns), its running from the snapshots of its
// own monitor (Observe), so that a workflow never knows less than they do. What later snapshots may
// not forget although a master forgets jobs (who ended how and when, what was shown) is handed out
// as facts to be kept, and taken back after a restart.
//
// Not thread-safe: one owner at a time. Memory: O(jobs + edges), beside the
// stages that it shares with the monitors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/estimate/application_estimate.h"
#include "master/model/indicators/end_drift.h"
#include "master/schedule/dag.h"
#include "master/workflow/check_workflow.h"
#include "master/workflow/jobs_application.h"
#include "tidemark/job.h"
#include "tidemark/job_monitor.h"
#include "tidemark/job_profile.h"
#include "tidemark/workflow.h"

namespace tidemark::workflow {

struct LiveWorkflowOptions {
  JobsOptions estimate;
  // A workflow of which no job runs and none that could report does for so long ends as kAbandoned.
  absl::Duration abandon_after = absl::Minutes(15);
  // Retries of one job that are taken.
  std::uint32_t retries_max = 100;
};

// What of a job must outlive it.
struct JobFacts {
  WorkflowJobState state = WorkflowJobState::kPending;
  std::optional<absl::Time> started_at;
  std::optional<absl::Time> ended_at;
  std::uint32_t failed_attempts = 0;
  std::string message;                     // why the last of them failed
  std::optional<absl::Duration> expected;  // what it was to take, the moment before it began
  friend bool operator==(const JobFacts&, const JobFacts&) = default;
};

// Changes to a running workflow that a what-if asks about.
struct WhatIf {
  std::uint32_t slots = 0;  // 0: as it is
  double data_factor = 1;   // of jobs that have not begun
  std::optional<SchedulingPolicy> policy;
};

// Changes to a running workflow that somebody wants.
struct Change {
  std::vector<WorkflowJob> add;
  std::vector<std::string> cancel;  // names of jobs that will not run
  bool cancel_all = false;
};

class LiveWorkflow {
 public:
  // REQUIRES: CheckWorkflow(spec) is OK.
  LiveWorkflow(WorkflowSpec spec, absl::Time submitted_at, const LiveWorkflowOptions& options);

  const WorkflowSpec& spec() const { return spec_; }
  // Whether `workflow` is what was submitted, whatever was changed since.
  bool WasSubmittedAs(const WorkflowSpec& workflow) const;
  bool is_final() const { return newest_.is_final(); }
  // The last snapshot; of sequence 0 before the first.
  const WorkflowSnapshot& newest() const { return newest_; }

  // Which job reports for job `name` from now on, be it one that has ended. True if that is news;
  // the same again is OK.
  // NotFound: no such job. FailedPrecondition: the workflow is over, or the job before it runs or
  // has succeeded. AlreadyExists: another job of the workflow has that id. ResourceExhausted:
  // retries_per_job.
  absl::StatusOr<bool> Attach(const std::string& name, const std::string& job_id);

  // Adds and cancels jobs: all of it, or nothing. True if that is news; the same again is OK.
  // InvalidArgument "PATH: ..." of UpdateJobRequest: a job that makes no sense here, a name that is
  // none. ResourceExhausted: jobs_per_workflow. FailedPrecondition: the workflow is over, or a job
  // to cancel has begun.
  absl::StatusOr<bool> Update(const Change& change, const WorkflowLimits& limits);

  // Ids of the jobs whose snapshots it wants: attached and not seen to have ended.
  std::vector<std::string> wanted_jobs() const;
  // The newest snapshot of such a job; others are ignored, and so is that of a run which had ended
  // when the workflow was submitted, unless it was attached since.
  // `stage`: JobMonitor::running_stage() as of that snapshot; without it the tasks that are left
  // are taken to be alike.
  void Observe(const next::Snapshot& snapshot,
               std::shared_ptr<const cost::RunningStage> stage = nullptr);

  // Earlier runs of job `index`, the most recent first.
  void SetRuns(std::size_t index, std::vector<JobProfile> runs);
  // What a node of the cluster gets done, unless the workflow itself says it.
  void SetNode(const ResourceProfile& node);
  bool has_runs(std::size_t index) const { return jobs_[index].has_runs; }

  // What is believed at `now`; each call yields the next sequence number. After the final snapshot
  // it is returned again, unchanged. Cost: that of EstimateLive().
  WorkflowSnapshot Tick(absl::Time now) { return Tick(now, EstimateLive(QuestionAt(now))); }
  // The same in two halves, O(jobs) each, so that others may use the workflow while its end is
  // estimated. What has changed since the question shows in the snapshot, and in the estimate of
  // the next one. An estimate that is not OK is left out, with its message as a note.
  LiveQuestion QuestionAt(absl::Time now);
  WorkflowSnapshot Tick(absl::Time now, absl::StatusOr<estimate::Estimate> estimate);
  // What would be at `now`: changes nothing, sequence 0. InvalidArgument: a policy without queues.
  absl::StatusOr<WorkflowSnapshot> Estimate(absl::Time now, const WhatIf& what_if) const;

  // Facts that have changed since they were last taken, by name of the job.
  std::vector<std::pair<std::string, JobFacts>> TakeNewFacts();
  // Puts back what a master before this one kept.
  void RestoreFacts(const std::string& name, JobFacts facts);
  void RestoreTick(std::uint64_t sequence, absl::Time at, double fraction_done);
  void RestoreEnd(WorkflowSnapshot final);
  // Part of its log is lost: a note says so from now on, and no sequence number is used twice.
  void NoteDamage(const LogDamage& damage);

 private:
  struct Job {
    std::string job_id;
    JobFacts facts;
    JobFacts kept;  // of `facts`, what was handed out
    std::optional<next::Snapshot> newest;
    std::shared_ptr<const cost::RunningStage> stage;  // as of `newest`
    bool is_attached = false;                         // by Attach(), after the submission
    bool ended_before = false;  // a run of its id had ended when it was submitted
    std::optional<absl::Time> awaited_since;
    std::optional<absl::Duration> would_take;  // by the last estimate before it began
    double shown = 0;
    bool has_runs = false;
    std::vector<JobProfile> runs;
  };

  void FindParents();
  bool AreParentsDone(std::size_t job) const;
  void FindAwaited(absl::Time now);
  void Decide(absl::Time now, WorkflowSnapshot& snapshot);
  // Of jobs that are over: how much longer they took than they were to, shrunk towards 1.
  double Shift() const;
  LiveJob LiveJobOf(std::size_t job, absl::Time now, const WorkflowCluster& cluster,
                    double data_factor) const;
  LiveQuestion QuestionOn(absl::Time now, const WorkflowCluster& cluster, double data_factor) const;
  WorkflowSnapshot Describe(absl::Time now) const;
  // Whether jobs run and all of them are silent: no progress is known.
  bool IsSilent() const;
  // Since the first job began; zero before.
  absl::Duration WorkedUntil(absl::Time now) const;
  void Fill(absl::Time now, const estimate::Estimate& estimate, const WorkflowCluster& cluster,
            double data_factor, WorkflowSnapshot& snapshot) const;
  WorkflowJobProgress ProgressOf(std::size_t job, absl::Time now) const;
  std::vector<std::string> NotesAt(absl::Time now) const;

  WorkflowSpec spec_;
  std::size_t submitted_jobs_;  // of them, those that were not added since
  bool is_cancelled_ = false;
  schedule::Parents parents_;  // of those that were not cancelled
  WorkflowCluster cluster_;    // of spec_, with the node if it was told
  absl::Time submitted_at_;
  LiveWorkflowOptions options_;
  std::vector<Job> jobs_;
  absl::flat_hash_map<std::string, std::size_t> place_of_name_;
  absl::flat_hash_map<std::string, std::size_t> place_of_id_;
  WorkflowSnapshot newest_;
  model::EndDrift drift_;              // learnt anew after a restart
  absl::Time active_at_;               // when a job was last heard of, or the workflow handed in
  std::uint64_t damaged_records_ = 0;  // of its log
};

}  // namespace tidemark::workflow
