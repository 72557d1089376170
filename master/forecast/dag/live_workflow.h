// One submitted plan as it runs, without a server, a thread or a clock: the plan, which jobs were
// attached, what those jobs say, and ticks go in; snapshots come out, as they are published.
//
// A job's times of finished runs come from outside (SetRuns), its running from the snapshots of its
// own monitor (Observe), so that a workflow never knows less than they do. What later snapshots may
// not forget although a master forgets jobs (who ended how and when, what was shown) is handed out
// as facts to be kept, and taken back after a restart.
//
// It is silent while nothing is heard of any job of it, by the rule for jobs
// (master/facts/silence.h): those that run are, or none runs and for ten seconds none has begun
// although the next ones are due. Then it is estimated as before, with an interval that opens.
//
// What changes it is in change_workflow.cc, what an estimate asks and answers in
// estimate_workflow.cc, the rest in live_workflow.cc.
//
// Not thread-safe: one owner at a time. Copies are independent. Memory: O(jobs + edges + stages),
// and until it ends the snapshots of its jobs, which it shares with the table of jobs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/forecast/dag/application_estimate.h"
#include "master/forecast/dag/followed_job.h"
#include "master/forecast/dag/jobs_application.h"
#include "master/forecast/dag/shown_progress.h"
#include "master/forecast/dag/workflow_prediction.h"
#include "master/forecast/durations/interval_record.h"
#include "master/forecast/placement/dag.h"
#include "tidemark/job.h"
#include "tidemark/job_monitor.h"
#include "tidemark/job_profile.h"
#include "tidemark/job_query.h"
#include "tidemark/plan.h"

namespace tidemark::workflow {

struct LiveWorkflowOptions {
  JobsOptions estimate;
  // A workflow of which no job runs and none that could report does for so long ends as kAbandoned.
  absl::Duration abandon_after = absl::Minutes(15);
  // Retries of one job that are taken.
  std::uint32_t retries_max = 100;
};

class LiveWorkflow {
 public:
  // REQUIRES: CheckWorkflow(plan) is OK. A single job without a name gets that of the workflow.
  LiveWorkflow(Plan plan, absl::Time submitted_at, const LiveWorkflowOptions& options);

  // Includes the jobs that were added since.
  const Plan& plan() const { return plan_; }
  // Whether `plan` is what was submitted, whatever was changed since.
  bool WasSubmittedAs(Plan plan) const;
  bool is_final() const { return newest_->is_final; }
  // It ends with its next tick, whatever is estimated.
  bool is_cancelled() const { return is_cancelled_; }
  // The last snapshot, never null; of sequence 0 before the first.
  std::shared_ptr<const Snapshot> newest() const { return newest_; }

  // Which job reports for job `name` from now on, be it one that has ended. True if that is news;
  // the same again is OK.
  // NotFound: no such job. FailedPrecondition: the workflow is over, or the job before it runs or
  // has succeeded. AlreadyExists: another job of the workflow has that id. ResourceExhausted:
  // retries_per_job.
  absl::StatusOr<bool> Attach(const std::string& name, const std::string& job_id);

  // Adds and cancels jobs: all of it, or nothing. True if that is news; the same again is OK.
  // InvalidArgument (FieldError) of UpdateJobRequest: a job that makes no sense here, an unknown
  // name. ResourceExhausted: jobs_per_workflow. FailedPrecondition: the workflow is over, a job
  // to cancel has begun, or one to add was cancelled.
  absl::StatusOr<bool> Update(const PlanChange& change, std::size_t jobs_max);

  // Ids of all jobs that are attached.
  std::vector<std::string> attached_jobs() const;
  // Those of them whose end was not seen: their snapshots are needed.
  std::vector<std::string> wanted_jobs() const;
  // Takes the newest published snapshot of an attached job, not null and not of sequence 0.
  // Ignored: a run that ended before the submission, unless it was attached since. Of a job that
  // has already been seen to end only the stages are taken, if they are not known (after a
  // restart) and the snapshot is the final one of that run.
  // `left`: JobMonitor::stages_left() as of that snapshot; without it the tasks that are left
  // are taken to be alike.
  void Observe(std::shared_ptr<const Snapshot> snapshot,
               std::shared_ptr<const cost::StagesLeft> left = nullptr);

  // Earlier runs of job `index`, the most recent first: of a MapReduce job, or of an application of
  // stages. Of the latter no more are kept than the estimate of a workflow has time for; of others
  // how many tasks they had and how long those took.
  void SetRuns(std::size_t index, std::vector<JobProfile> runs, StageRuns stage_runs = {});
  // The throughputs of a node, used unless the plan has its own.
  void SetNode(const ResourceProfile& node);
  bool has_runs(std::size_t index) const { return jobs_[index].has_runs; }

  // What is believed at `now`; each call yields the next sequence number. After the final snapshot
  // it is returned again, unchanged. Cost: that of EstimateJobs().
  const Snapshot& Tick(absl::Time now) { return Tick(now, EstimateJobs(QuestionAt(now))); }
  // The same in two halves, O(jobs) and O(jobs + stages), so that others may use the workflow while
  // its end is estimated. What has changed since the question shows in the snapshot, and in the
  // estimate of the next one. An estimate that is not OK is left out, with its message as a note.
  JobsNow QuestionAt(absl::Time now);
  const Snapshot& Tick(absl::Time now, absl::StatusOr<estimate::Estimate> estimate);
  // What would be at `now`: changes nothing, sequence 0. InvalidArgument (FieldError): a policy
  // that does not go with the plan. FailedPrecondition: it was cancelled.
  absl::StatusOr<Outcome> Estimate(absl::Time now, const Scenario& scenario) const;

  // Facts that have changed since they were last taken, by name of the job.
  std::vector<std::pair<std::string, JobFacts>> TakeNewFacts();
  // Restores what an earlier master kept. REQUIRES: no Tick() yet, nobody holds newest(),
  // no copy was made. Cost: RestoreTick() O(1), so that a long log is read in O(records).
  void RestoreFacts(const std::string& name, JobFacts facts);
  void RestoreTick(std::uint64_t sequence, absl::Time at, double fraction_done);
  void RestoreEnd(Snapshot final);
  // No master listened before `now`: no job was heard, and no retry could be attached. Neither ends
  // the workflow; retry_within and abandon_after begin again.
  void NoteRestart(absl::Time now) { listening_since_ = std::max(listening_since_, now); }
  // Part of its log is lost: a note says so from now on, and no sequence number is used twice.
  void NoteDamage(const LogDamage& damage);

 private:
  // The end of the workflow, if it has ended.
  struct End {
    JobState state = JobState::kRunning;
    std::string message;
    std::optional<absl::Time> at = std::nullopt;  // empty: now
  };

  std::vector<std::string> job_names() const;
  void AddJob(const PlannedJob& planned);
  void FindParents();
  bool IsGivenUp(std::size_t job, const PlanChange& change) const;
  bool AreParentsDone(std::size_t job) const;
  void FindAwaited(absl::Time now);
  End EndAt(absl::Time now);
  // Mean ratio of actual to predicted time of finished jobs, shrunk towards 1.
  double Shift() const;
  JobsNow QuestionOn(absl::Time now, const Cluster& cluster, double data_factor) const;
  WorkflowPrediction PredictionAt(absl::Time now, const estimate::Estimate& estimate,
                                  const Cluster& cluster, double data_factor) const;
  // Gives the end the interval that the record of the workflow bears.
  void Widen(absl::Time at, estimate::Range& end);
  // null: nothing is predicted. What was shown before is left to shown_.
  Snapshot Describe(absl::Time now, const WorkflowPrediction* prediction) const;
  // For how long nothing has been heard of any job; zero: it is not silent.
  absl::Duration SilenceAt(absl::Time now) const;
  // `now`, or when it was before the silence: what is estimated is as of then.
  absl::Time InformedAt(absl::Time now) const;
  // When the first job began; `now` if none has.
  absl::Time BeganBy(absl::Time now) const;
  // A run of a workflow is known by its start, so that this takes the start of a job as it was
  // first known, and stays when that becomes better known.
  void NoteStart(std::optional<absl::Time> of_job);
  void AddNotes(absl::Time now, std::vector<std::string>& notes) const;

  Plan plan_;
  std::size_t submitted_jobs_;  // of them, those that were not added since
  bool is_cancelled_ = false;
  schedule::Parents parents_;  // of those that were not cancelled
  Cluster cluster_;            // of plan_, with the node if it was told
  absl::Time submitted_at_;
  absl::Time started_at_;  // then, or when the first job began if that was before
  LiveWorkflowOptions options_;
  std::vector<FollowedJob> jobs_;
  std::size_t history_size_ = 0;  // of the stage runs of all jobs: stages, edges and task times
  absl::flat_hash_map<std::string, std::size_t> place_of_name_;
  absl::flat_hash_map<std::string, std::size_t> place_of_id_;
  std::shared_ptr<Snapshot> newest_;  // changed by Restore...() only, replaced by Tick()
  model::ShownProgress shown_;
  model::IntervalRecord record_;  // learnt anew after a restart
  absl::Time active_at_;          // of the newest snapshot of a job, or the last change
  absl::Time changed_at_;         // when it was handed in or changed last
  absl::Time informed_at_;        // of the last estimate without silence
  absl::Time listening_since_ = absl::InfinitePast();  // the last NoteRestart()
  std::uint64_t damaged_records_ = 0;                  // of its log
};

}  // namespace tidemark::workflow
