// All workflows of a master. Each has a LiveWorkflow and a log. live_table.h describes the rules
// that jobs and workflows share.
//
// Thread-safe as defined in live_table.h. The lock of a workflow is never held during an estimate.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/forecast/dag/application_forecast.h"
#include "master/forecast/dag/live_workflow.h"
#include "master/service/job_table.h"
#include "master/service/live_table.h"
#include "master/service/metrics.h"
#include "master/store/history.h"
#include "master/store/name_space.h"
#include "tidemark/job_query.h"
#include "tidemark/plan.h"

namespace tidemark::service {

struct WorkflowTableOptions {
  dag::LiveWorkflowOptions live;
  std::size_t jobs_per_workflow_max = 1000;
  std::size_t workflows_max = 1000;  // limit of tracked workflows
  // Returns the deadline of a workflow named `name` that is submitted at `now` and states none.
  // May be empty.
  std::function<std::optional<absl::Time>(const std::string& name, absl::Time now)> deadline_of;
  // Returns profiles of past runs of jobs named `name` that `job` may use, newest first. Called on
  // any thread. May be empty.
  std::function<std::vector<JobProfile>(const std::string& name, const store::Reported& job)> runs;
  // Like `runs`, but returns past runs of applications of stages.
  std::function<dag::StageRuns(const std::string& name, const store::Reported& job)> stage_runs;
  // Returns the measured resources of a node. Called on any thread. May be empty.
  std::function<std::optional<ResourceProfile>()> node;
  // Called for each open workflow that succeeds, with the run for later plans. May be empty.
  std::function<void(const store::FinishedJob&)> on_end;
  // Called if a job cannot join the workflow that it reports. May be empty.
  std::function<void(const std::string& job_id, const absl::Status& reason)> on_refused;
  // Computes an estimate. May be slow; called without a lock.
  std::function<absl::StatusOr<dag::ApplicationForecast>(const dag::JobsNow&)> estimate =
      [](const dag::JobsNow& question) { return dag::ForecastJobs(question); };
};

class WorkflowTable final : public LiveTable {
 public:
  // Uses the context of `jobs`. `jobs` and `metrics` must outlive the table. `metrics` may be null.
  WorkflowTable(WorkflowTableOptions options, JobTable& jobs, Metrics* metrics = nullptr);
  ~WorkflowTable() override;

  // Restores the workflows of data_dir. Makes the next snapshot of each at the time of its last
  // one, so that no sequence number is published twice. Silence is counted from `now`. REQUIRES:
  // the jobs have been recovered, and no plan has been submitted.
  absl::StatusOr<Recovery> Recover(absl::Time now);

  // Submit(), Attach() and Update() return the position in the journal that must be durable before
  // the caller is answered. They do not wait for it.
  //
  // Fails like CheckWorkflow(), and with AlreadyExists if another workflow has the ID. Fails with
  // ResourceExhausted beyond workflows_max or share_percent. Fails with Unavailable, without
  // effect, if the journal fails.
  absl::StatusOr<Journal::Mark> Submit(const Plan& plan, const Sender& sender, absl::Time now);
  // Fails like LiveWorkflow::Attach(), with NotFound for an unknown workflow, and with Unavailable
  // like Submit().
  absl::StatusOr<Journal::Mark> Attach(const std::string& workflow_id, const std::string& job_name,
                                       const std::string& job_id, absl::Time now);

  // Fails like LiveWorkflow::Update(), and with NotFound and Unavailable like Attach().
  absl::StatusOr<Journal::Mark> Update(const std::string& workflow_id, const PlanChange& change,
                                       absl::Time now);

  // Adds a job to the workflow that it reports. Opens the workflow as soon as it has two jobs, by
  // its graph, by a past run or by the jobs that report it. If all runs of the workflow have ended
  // without the job, the next run has a number, such as "nightly.2". Fails with Unavailable if the
  // caller must try again: before Recover(), while the journal fails, and until the job reports an
  // id and a node. After any other error, the job runs alone (on_refused). O(jobs of the workflow
  // + runs of it).
  absl::Status Join(const JobTable::Joining& job, absl::Time now);

  // Passes a published snapshot of a job to the workflows that contain the job. `job` must not be
  // null. O(workflows of the job).
  void Observe(const std::shared_ptr<const Snapshot>& job);

  // These functions return a submitted workflow or a plan, with past runs, for estimates.
  // `name_space` contains the IDs that the caller may read.
  absl::StatusOr<dag::LiveWorkflow> Copy(const std::string& workflow_id) const;
  absl::StatusOr<dag::LiveWorkflow> MakeHypothetical(const Plan& plan,
                                                     const std::string& name_space,
                                                     absl::Time now) const;

  // Returns the past forecasts of a workflow, or nullopt if the workflow is unknown.
  std::optional<JobTable::ListedForecasts> ListForecasts(const std::string& id) const;

  // Returns the number of jobs whose snapshots running workflows need.
  std::size_t followed_jobs() const;

 private:
  struct Entry final : LiveEntry {
    Entry(dag::LiveWorkflow workflow, absl::Time submitted_at, const Sender& sender,
          Shares& shares);
    bool has_news() const override { return is_changed; }

    std::string reported_id;  // JobWorkflow::id of the jobs of an open workflow
    std::mutex following;     // held while `followed` is updated; taken before other locks
    absl::flat_hash_set<std::string> followed;  // guarded by followers_mutex_

    // The entry's lock guards the members below.
    dag::LiveWorkflow live;
    bool is_changed = true;   // since the last tick
    bool has_pauses = false;  // whether LoadPauses() was called
  };

  // The only known job of a workflow.
  struct Lone {
    std::string job_id;
    JobWorkflow workflow;
    std::optional<absl::Time> deadline;
    absl::Time reported_at;
  };
  using Reported = std::pair<std::string, std::string>;  // name space and reported ID of a workflow

  std::shared_ptr<Entry> FindWorkflow(const std::string& id) const {
    return std::static_pointer_cast<Entry>(Find(id));
  }
  std::shared_ptr<Entry> FollowerOf(const std::string& job_id) const;
  std::string WorkflowOf(const std::string& job_id) const;
  // Returns the name for runs of a job of an open workflow, or an empty string.
  std::string HistoryNameOf(const std::string& job_id) const;
  // This function and the next two require joins_mutex_.
  absl::Status TryJoin(const JobTable::Joining& job, absl::Time now);
  // Stores the job until a second job reports its workflow. Replaces the oldest such job beyond
  // kLoneMax.
  void AwaitPeer(const Reported& workflow, Lone job);
  // Removes and returns the stored job of the workflow if it may be of the present run.
  std::optional<Lone> TakePeer(const Reported& workflow, absl::Time now);
  absl::Status JoinEntry(Entry& entry, JobWorkflow reported, const std::string& job_id,
                         absl::Time now);
  void Refuse(const std::string& job_id, const absl::Status& reason) const;
  absl::Status CheckJournal() const;
  // Returns the deadline of the master's settings for the plan.
  std::optional<absl::Time> DeadlineOf(const Plan& plan, absl::Time now) const;
  absl::StatusOr<std::shared_ptr<Entry>> Open(Plan plan, const std::string& reported_id,
                                              const Sender& sender, absl::Time now);
  // Changes a workflow, and appends a record of the change if there is one. `observed_job` is a job
  // that the workflow may have ignored before, or empty.
  absl::StatusOr<Journal::Mark> Change(
      const std::string& workflow_id, const std::string& observed_job,
      absl::FunctionRef<absl::StatusOr<bool>(dag::LiveWorkflow&)> change,
      absl::FunctionRef<void(store::LogKey, std::string&)> encode);
  // Follows exactly the jobs that the workflow needs now, and adds the newest snapshots of newly
  // followed jobs. This function and the next require that the entry's lock is not held.
  void Follow(const std::shared_ptr<Entry>& entry);
  void LoadHistory(Entry& entry) const;
  void LoadPauses(Entry& entry) const;
  void ObserveNewest(Entry& entry, const std::string& job_id) const;
  Ticked Tick(const std::shared_ptr<LiveEntry>& entry, absl::Time now) override;
  void OnPublished(const std::shared_ptr<LiveEntry>& entry) override;
  std::vector<std::string> FilesOf(const std::string& id) const override;
  // Makes the next snapshot. If `estimates` is false, the following snapshot contains the estimate.
  // REQUIRES: only one caller at a time.
  Ticked MakeSnapshot(const std::shared_ptr<Entry>& entry, absl::Time now, bool estimates);
  // This function and those below require entry.mutex.
  void AppendRecord(Entry& entry, const std::string& record) const;
  // Appends the facts since the last tick. They determine which attachments and changes are valid,
  // also when the log is read again.
  void AppendNewFacts(Entry& entry) const;

  const WorkflowTableOptions options_;
  JobTable& jobs_;
  Metrics* const metrics_;
  // Guards all members below, and Entry::followed. Taken under the lock of a job or of an entry
  // (Tick() reads the workflow of a job), but never together with a table's lock.
  mutable std::mutex followers_mutex_;
  absl::flat_hash_map<std::string, std::vector<std::shared_ptr<Entry>>> followers_;  // by job ID

  // Guards the members below. Taken after the lock of a job, if both are held.
  std::mutex joins_mutex_;
  bool is_recovered_;
  std::map<Reported, Lone> alone_;
  std::map<Reported, std::vector<std::string>> runs_;  // IDs of open workflows, newest last
};

}  // namespace tidemark::service
