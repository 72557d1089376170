// A submitted plan while it runs. The inputs are the plan, the attached jobs, their snapshots, and
// ticks; the outputs are snapshots for publication. The class uses no server, thread or clock.
//
// SetRuns() provides the past runs of a job, and Observe() the snapshots of the job's monitor. Some
// facts, such as ends and shown progress, must survive a restart or the removal of a job by its
// master. TakeNewFacts() returns them, and RestoreFacts() restores them.
//
// The workflow is silent if all running jobs are silent by the rule for jobs
// (master/facts/evidence_loss.h). It is also silent if no job runs and no job has started for ten
// seconds although the next jobs are due. A silent workflow keeps its forecast, but the interval
// grows.
//
// An open workflow (Plan::is_open) also grows by the jobs that report its id (PlanJoin()). It ends
// when no job runs and it is closed or quiet. Its jobs that never came are then cancelled.
//
// change_workflow.cc implements changes by clients and jobs; live_workflow.cc implements the rest.
//
// Not thread-safe. Copies are independent. Memory: O(jobs + edges + stages). Until it ends, it also
// keeps the snapshots of its jobs, which it shares with the table of jobs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/forecast/dag/application_forecast.h"
#include "master/forecast/dag/followed_job.h"
#include "master/forecast/dag/jobs_application.h"
#include "master/forecast/dag/shown_progress.h"
#include "master/forecast/dag/workflow_forecast.h"
#include "master/forecast/durations/intervals.h"
#include "master/forecast/placement/dag.h"
#include "tidemark/event.h"
#include "tidemark/job.h"
#include "tidemark/job_monitor.h"
#include "tidemark/job_profile.h"
#include "tidemark/job_query.h"
#include "tidemark/job_tasks.h"
#include "tidemark/past_run.h"
#include "tidemark/plan.h"

namespace tidemark::dag {

struct LiveWorkflowOptions {
  JobsOptions estimate;
  // The workflow ends as kAbandoned after this time without a running job or a report.
  absl::Duration abandon_after = absl::Minutes(15);
  // Upper bound of the retries of one job.
  std::uint32_t retries_max = 100;
  // An open workflow ends if no job has run for this time, or for several times its longest pause
  // so far. Chosen by hand: clients of Hadoop submit the next job within seconds.
  absl::Duration quiet_after = absl::Minutes(1);
  // Replaces quiet_after if a job of the graph or of the past run is due. Its first report waits
  // for a container of YARN. Chosen by hand.
  absl::Duration awaited_after = absl::Minutes(10);
  // Replaces quiet_after if all jobs that the graph or a past run contains have succeeded.
  absl::Duration complete_after = absl::Seconds(10);
};

// The place of a reporting job in an open workflow.
struct JoinPlan {
  PlanChange change;  // to apply first; empty if nothing changes
  std::string child;  // the job to which the reporting job must be attached
};

class LiveWorkflow {
 public:
  // REQUIRES: CheckWorkflow(plan) is OK. If there is only one job and it has no name, it gets the
  // name of the workflow.
  LiveWorkflow(Plan plan, absl::Time submitted_at, const LiveWorkflowOptions& options);

  // Returns the plan, including jobs that were added later.
  const Plan& plan() const { return plan_; }
  // Returns true if `plan` equals the submitted plan, without later changes.
  bool WasSubmittedAs(Plan plan) const;
  bool is_final() const { return newest_->is_final; }
  // Returns true if the job is, or was, attached to a job of the workflow.
  bool HasJob(const std::string& job_id) const { return place_of_id_.contains(job_id); }
  // Returns true after a cancellation. The workflow then ends with its next tick.
  bool is_cancelled() const { return is_cancelled_; }
  // Returns the last snapshot, which is never null. Its sequence is 0 before the first tick.
  std::shared_ptr<const Snapshot> newest() const { return newest_; }
  // Returns the past forecasts, oldest first. A restart of the master removes the forecasts of a
  // running workflow.
  static constexpr std::size_t kPastForecastsMax = 200;
  const std::vector<PastForecast>& past_forecasts() const { return past_forecasts_; }

  // Attaches the job with id `job_id` as the job `name` of the workflow, even if it has ended.
  // Returns false if it is already attached. Fails with NotFound if the name is unknown. Fails with
  // FailedPrecondition if the workflow is over, or if the job's previous run is running or has
  // succeeded. Fails with AlreadyExists if another job of the workflow has that id. Fails with
  // ResourceExhausted beyond retries_per_job.
  absl::StatusOr<bool> Attach(const std::string& name, const std::string& job_id);

  // Adds and cancels jobs, all or nothing. Returns false if nothing changes. Fails with
  // InvalidArgument (FieldError of UpdateJobRequest) for an invalid job or an unknown name. Fails
  // with ResourceExhausted beyond jobs_per_workflow. Fails with FailedPrecondition if the workflow
  // is over, a job to cancel has started, or a job to add was cancelled, and if the workflow to
  // close is not open.
  absl::StatusOr<bool> Update(const PlanChange& change, std::size_t jobs_max);

  // Returns the place of job `job_id` in the open workflow. Nodes of a new graph are added. A job
  // that is not expected waits for the jobs that have ended before it. Jobs that should have
  // preceded it and never came are cancelled. A node that reports again after a success
  // becomes another job, such as "count (2)". REQUIRES: reported.node is not empty. O(jobs +
  // edges).
  JoinPlan PlanJoin(const JobWorkflow& reported, const std::string& job_id) const;
  // Returns the name under which runs of an attached job of an open workflow are stored, or an
  // empty string.
  std::string HistoryNameOf(const std::string& job_id) const;
  // Returns the name under which runs of the open workflow are stored.
  std::string history_name() const;
  // Returns the jobs that succeeded as stages of one task each, for later runs.
  PastRun AsPastRun() const;
  // Sets the usual delays of jobs from a past run. Not stored: a restarted master sets them again.
  void SetPastRun(const PastRun& run);

  // Returns the ids of all attached jobs.
  std::vector<std::string> attached_jobs() const;
  // Returns the ids of the attached jobs whose ends are unknown. The workflow needs snapshots of
  // these jobs.
  std::vector<std::string> wanted_jobs() const;
  // Updates an attached job from its newest published snapshot, whose sequence is above 0. Ignores
  // a run that ended before the submission, unless it was attached later. If the job's end is
  // known, takes only the stages of the run's final snapshot, if they are missing after a restart.
  // `left` is JobMonitor::stages_left() as of that snapshot; if it is null, the remaining tasks
  // count as equal. `profile` is the profile of an ended job, or null if unknown.
  void Observe(std::shared_ptr<const Snapshot> snapshot,
               std::shared_ptr<const durations::RemainingStages> left = nullptr,
               std::shared_ptr<const JobProfile> profile = nullptr);

  // Sets the past runs of job `index`, newest first. `stage_runs` is for an application of stages.
  // Their number is limited by the cost of a forecast; further runs keep only their numbers and
  // times of tasks.
  void SetRuns(std::size_t index, std::vector<JobProfile> runs, StageRuns stage_runs = {});
  // Sets the throughputs of a node, unless the plan has its own.
  void SetNode(const ResourceProfile& node);
  bool has_runs(std::size_t index) const { return jobs_[index].has_runs; }

  // Publishes the forecast at `now` with the next sequence number. After the final snapshot,
  // returns it unchanged. Costs as much as ForecastJobs().
  const Snapshot& Tick(absl::Time now) { return Tick(now, ForecastJobs(QuestionAt(now))); }
  // These functions do the work of Tick(now) in two steps, in O(jobs) and O(jobs + stages) time, so
  // that the workflow is accessible while its end is computed. Changes after QuestionAt() appear in
  // this snapshot, and in the forecast of the next one. If the forecast is an error, the snapshot
  // has a note with its message instead.
  JobsNow QuestionAt(absl::Time now);
  const Snapshot& Tick(absl::Time now, absl::StatusOr<ApplicationForecast> estimate);
  // Returns the forecast at `now` under a scenario, with sequence 0. Changes nothing. Fails with
  // InvalidArgument (FieldError) if the policy contradicts the plan, and with FailedPrecondition if
  // the workflow was cancelled.
  absl::StatusOr<Outcome> Estimate(absl::Time now, const Scenario& scenario) const;

  // Returns the facts that have changed since the last call, by job name.
  std::vector<std::pair<std::string, JobFacts>> TakeNewFacts();
  // Restore the state that an earlier master stored. REQUIRES: Tick() has not been called, and
  // neither a copy nor another owner of newest() exists. RestoreTick() takes O(1) time, so that a
  // long log is read in O(records) time.
  void RestoreFacts(const std::string& name, JobFacts facts);
  void RestoreTick(std::uint64_t sequence, absl::Time at, double fraction_done);
  void RestoreEnd(Snapshot final, std::vector<PastForecast> forecasts = {});
  // Records that no master ran before `now`. Reports and retries could not arrive, so retry_within
  // and abandon_after start again.
  void NoteRestart(absl::Time now) { listening_since_ = std::max(listening_since_, now); }
  // Records that a job that reports this workflow is not part of it. Snapshots get a note with the
  // number of such jobs, up to kJobsOutsideMax, and the last reason. Not stored: a restart of the
  // master removes the note, unless the job still runs.
  static constexpr std::size_t kJobsOutsideMax = 1'000;
  void NoteJobOutside(const std::string& job_id, const absl::Status& reason);
  // Records that part of the log is lost. Snapshots get a note, and sequence numbers are not
  // reused.
  void NoteDamage(const LogDamage& damage);

 private:
  // The end of the workflow, or kRunning if it has not ended.
  struct End {
    JobState state = JobState::kRunning;
    std::string message;
    std::optional<absl::Time> at = std::nullopt;  // the present time if unset
  };

  std::vector<std::string> job_names() const;
  void AddJob(const PlannedJob& planned);
  void FindParents();
  bool IsGivenUp(std::size_t job, const PlanChange& change) const;
  bool AreParentsDone(std::size_t job) const;
  void FindAwaited(absl::Time now);
  End EndAt(absl::Time now);
  // Returns true if any job of the workflow has started.
  bool HasBegun() const;
  // Returns true if no job runs and the open workflow is closed or quiet.
  bool IsComplete(absl::Time now) const;
  // Returns true if all jobs of the graph or of the past run have succeeded or were cancelled.
  bool HasAllJobs() const;
  // Returns true if the first job of the open workflow announced no further jobs.
  bool MayGrow() const { return plan_.is_open && !is_closed_ && submitted_jobs_ == 1; }
  // Returns true if PlanJoin() has named the job as a repetition, such as "count (2)".
  bool RepeatsAnother(const std::string& job) const;
  // Counts the jobs that have joined the workflow. O(jobs).
  Submissions SubmissionsSoFar() const;
  // Returns the time since which an open workflow has had no job, unless it has all jobs.
  std::optional<absl::Time> IdleSince() const;
  // Returns the time without a running job after which an open workflow ends.
  absl::Duration QuietTime() const;
  // Returns true if a job may be attached in place of a failed one.
  bool MayRetry() const { return plan_.is_open || plan_.retry_within > absl::ZeroDuration(); }
  // Raises the slots of an open workflow to the slots of past runs and to the number of its running
  // tasks. The plan states no slots.
  void LearnSlots();
  // Returns the expected input of each job in bytes, or 0 if it is unknown or as in the last past
  // run. The part that its parents wrote grows with their output. The parents' output grows with
  // their input until they have ended. O(jobs + edges).
  std::vector<double> InputsOfJobs() const;
  // Returns the mean ratio of actual to estimated times of finished jobs, shrunk towards 1.
  double Shift() const;
  // Returns the jobs as of `now` with their expected inputs.
  std::vector<LiveJob> LiveJobs(absl::Time now, const Cluster& cluster, double data_factor) const;
  JobsNow QuestionOn(absl::Time now, const Cluster& cluster, double data_factor) const;
  // `live` are the jobs as of InformedAt(now).
  WorkflowForecast PredictionAt(absl::Time now, const ApplicationForecast& estimate,
                                std::span<const LiveJob> live) const;
  // Corrects the interval using the errors of earlier forecasts (IntervalRecord).
  void Widen(absl::Time at, SecondsRange& end);
  // Returns the snapshot at `now`. `prediction` is null if there is no forecast. The caller applies
  // the progress shown earlier (shown_).
  Snapshot Describe(absl::Time now, const WorkflowForecast* prediction) const;
  // Sets the shown fractions of running jobs. A silent job keeps its fraction.
  void ShowJobs(Snapshot& snapshot);
  // Returns the time since the last report of any job, or zero if the workflow is not silent.
  absl::Duration SilenceAt(absl::Time now) const;
  // Returns the time of the forecast: `now`, or the start of the silence.
  absl::Time InformedAt(absl::Time now) const;
  // Returns the start of the first job, or `now` if none has started.
  absl::Time StartOfFirstJob(absl::Time now) const;
  // Sets the start of the workflow to the first known start of a job. The start identifies the run,
  // so later corrections of the job's start do not change it.
  void NoteStart(std::optional<absl::Time> of_job);
  void AddNotes(absl::Time now, std::vector<std::string>& notes) const;
  // Adds a note that names the nodes of an open workflow for which no job ran.
  void NoteSkippedJobs(std::vector<std::string>& notes) const;
  void AddNoteOnJobsOutside(std::vector<std::string>& notes) const;
  // Adds a note on the waiting jobs whose past runs the plan names, if none is stored.
  void AddNoteOnUnknownRuns(std::vector<std::string>& notes) const;
  // Keeps the forecast of one in forecast_stride_ snapshots. Removes every second forecast if there
  // are too many.
  void KeepForecast(const Snapshot& snapshot);
  // Returns the succeeded jobs without a succeeded job after them.
  std::vector<std::string> EndedJobs() const;
  // Adds the jobs that `join.child`, job `index`, shows to be superfluous to `join.change`.
  void CancelSkipped(std::size_t index, JoinPlan& join) const;

  Plan plan_;
  std::size_t submitted_jobs_;                    // number of jobs at the submission
  std::optional<absl::Time> submitted_deadline_;  // deadline at the submission
  bool is_cancelled_ = false;
  bool is_closed_ = false;      // ends once no job runs; jobs may join until then
  placement::Parents parents_;  // excludes cancelled jobs
  Cluster cluster_;             // cluster of plan_, with its node if known
  absl::Time submitted_at_;
  // time of the submission, or the start of the first job if that is earlier
  absl::Time started_at_;
  LiveWorkflowOptions options_;
  std::vector<FollowedJob> jobs_;
  std::size_t history_size_ = 0;  // stages, edges and task times of all stage runs
  absl::flat_hash_map<std::string, std::size_t> place_of_name_;
  absl::flat_hash_map<std::string, std::size_t> place_of_id_;
  std::shared_ptr<Snapshot> newest_;  // changed only by Restore...(); Tick() replaces it
  std::vector<PastForecast> past_forecasts_;
  std::size_t forecast_stride_ = 1;
  std::size_t skipped_forecasts_ = 0;  // since the last one that was kept
  ShownProgress shown_;
  durations::IntervalRecord record_;  // starts again after a restart
  absl::Time active_at_;              // time of the newest snapshot of a job, or of the last change
  absl::Time changed_at_;             // time of the submission or of the last change
  absl::Time informed_at_;            // time until which reports cover the forecast
  absl::Time listening_since_ = absl::InfinitePast();  // time of the last NoteRestart()
  std::uint64_t damaged_records_ = 0;                  // number of records lost from the log
  absl::flat_hash_set<std::string> jobs_outside_;      // at most kJobsOutsideMax
  std::string outside_reason_;                         // message of the last NoteJobOutside()
};

// Returns the first of the past runs that contains the node of `reported`, or null. `past_runs` are
// AsPastRun() of earlier workflows of OpenHistoryName(), newest first.
const PastRun* FindPastRun(const JobWorkflow& reported, const std::vector<PastRun>& past_runs);

// Returns the plan of an open workflow whose first job reports `reported`. REQUIRES: reported.node
// is not empty. The plan contains the jobs of `past_run`. If that is null, the plan contains the
// nodes of the graph that do not precede the node, or the node alone. O(nodes + edges).
Plan OpenPlan(const JobWorkflow& reported, const PastRun* past_run);

// Returns the name under which runs of the workflow are stored. O(nodes + edges).
std::string OpenHistoryName(const JobWorkflow& reported);

// Returns the names under which past runs of a job of the plan may be stored, in the order in which
// they are tried. A node without a graph may have run outside of its workflow.
std::vector<std::string> HistoryNamesOf(const Plan& plan, const PlannedJob& job);

// Returns OK if a master accepts the plan as a workflow. Fails with InvalidArgument (FieldError)
// for an error of CheckPlan(), a missing id, or a job described by its stages. Fails with
// ResourceExhausted beyond jobs_per_workflow. O(jobs + edges).
absl::Status CheckWorkflow(const Plan& plan, std::size_t jobs_max);

// Returns the indexes of each job's parents. REQUIRES: CheckPlan(plan) is OK. O(jobs +
// edges).
placement::Parents ParentsOf(const Plan& plan);

}  // namespace tidemark::dag
