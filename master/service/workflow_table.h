// All workflows of a master: each a LiveWorkflow and its log. What holds for jobs and workflows
// alike is in live_table.h.
//
// Thread-safe, as said there; the lock of a workflow is never held while estimating.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/forecast/dag/application_estimate.h"
#include "master/forecast/dag/live_workflow.h"
#include "master/service/job_table.h"
#include "master/service/live_table.h"
#include "master/service/metrics.h"
#include "master/store/name_space.h"
#include "tidemark/job_query.h"
#include "tidemark/plan.h"

namespace tidemark::service {

struct WorkflowTableOptions {
  workflow::LiveWorkflowOptions live;
  std::size_t jobs_per_workflow_max = 1000;
  std::size_t workflows_max = 1000;  // the shares of `jobs` say how many one may run
  // When a workflow of that name has to have ended that is submitted now without a deadline. May be
  // empty.
  std::function<std::optional<absl::Time>(const std::string& name, absl::Time now)> deadline_of;
  // Profiles of earlier runs of jobs of a name that may teach `job`, the most recent first. From
  // any thread; may be empty.
  std::function<std::vector<JobProfile>(const std::string& name, const store::Reported& job)> runs;
  // Earlier runs of applications of stages; likewise.
  std::function<workflow::StageRuns(const std::string& name, const store::Reported& job)>
      stage_runs;
  // What a node gets done that was measured; likewise.
  std::function<std::optional<ResourceProfile>()> node;
  // May be slow, and is called without any lock.
  std::function<absl::StatusOr<estimate::Estimate>(const workflow::JobsNow&)> estimate =
      [](const workflow::JobsNow& question) { return workflow::EstimateJobs(question); };
};

class WorkflowTable final : public LiveTable {
 public:
  // `jobs`, whose context is used, and `metrics`, which may be null, must outlive the table.
  WorkflowTable(WorkflowTableOptions options, JobTable& jobs, Metrics* metrics = nullptr);
  ~WorkflowTable() override;

  // Takes up the workflows of data_dir and makes the next snapshot of each, of the instant of its
  // last, so that no sequence number is published twice. Nobody was heard before `now`. REQUIRES:
  // jobs were recovered, nothing was submitted yet.
  absl::StatusOr<Recovery> Recover(absl::Time now);

  // Both give the position in the journal up to which everything must be durable before the caller
  // is told of it, and do not wait for that.
  //
  // Errors: those of CheckWorkflow(). AlreadyExists: another workflow of that id.
  // ResourceExhausted: workflows, share_percent. Unavailable: the journal fails; nothing was done.
  absl::StatusOr<Journal::Mark> Submit(const Plan& plan, const Sender& sender, absl::Time now);
  // Errors: those of LiveWorkflow::Attach(). NotFound: no such workflow. Unavailable: as above.
  absl::StatusOr<Journal::Mark> Attach(const std::string& workflow_id, const std::string& job_name,
                                       const std::string& job_id, absl::Time now);

  // Errors: those of LiveWorkflow::Update(). NotFound, Unavailable: as above.
  absl::StatusOr<Journal::Mark> Update(const std::string& workflow_id, const PlanChange& change,
                                       absl::Time now);

  // A job has a new snapshot, not null, which was published. O(workflows it is part of).
  void Observe(const std::shared_ptr<const Snapshot>& job);

  // With their history, to ask what would be: one that was submitted, as it is, and one that was
  // not. `name_space`: which ids the caller may ask for.
  absl::StatusOr<workflow::LiveWorkflow> Copy(const std::string& workflow_id) const;
  absl::StatusOr<workflow::LiveWorkflow> Imagine(const Plan& plan, const std::string& name_space,
                                                 absl::Time now) const;

  // Jobs whose snapshots running workflows wait for.
  std::size_t followed_jobs() const;

 private:
  struct Entry final : LiveEntry {
    Entry(workflow::LiveWorkflow workflow, absl::Time submitted_at, const Sender& sender,
          Shares& shares);
    bool has_news() const override { return is_changed; }

    std::mutex following;  // held by who brings `followed` up to date; taken before the others
    absl::flat_hash_set<std::string> followed;  // guarded by followers_mutex_

    // Guarded by the lock of the entry.
    workflow::LiveWorkflow live;
    bool is_changed = true;  // since the last tick
  };

  std::shared_ptr<Entry> FindWorkflow(const std::string& id) const {
    return std::static_pointer_cast<Entry>(Find(id));
  }
  std::string WorkflowOf(const std::string& job_id) const;
  absl::Status CheckJournal() const;
  absl::StatusOr<std::shared_ptr<Entry>> Open(Plan plan, const Sender& sender, absl::Time now);
  // Changes a workflow and appends the record of that if it is news. `observed_job`: one that it
  // may have ignored before; empty: none.
  absl::StatusOr<Journal::Mark> Change(
      const std::string& workflow_id, const std::string& observed_job,
      absl::FunctionRef<absl::StatusOr<bool>(workflow::LiveWorkflow&)> change,
      absl::FunctionRef<void(store::LogKey, std::string&)> encode);
  // Follows the jobs that the workflow wants now and no others, and gives it the newest snapshots
  // of new ones. REQUIRES: no lock of the entry is held, here and in the next ones.
  void Follow(const std::shared_ptr<Entry>& entry);
  void LoadHistory(Entry& entry) const;
  void ObserveNewest(Entry& entry, const std::string& job_id) const;
  Ticked Tick(const std::shared_ptr<LiveEntry>& entry, absl::Time now) override;
  void OnPublished(const std::shared_ptr<LiveEntry>& entry) override;
  std::vector<std::string> FilesOf(const std::string& id) const override;
  // Makes the next snapshot; without an estimate, which the next one has. REQUIRES: one caller at a
  // time.
  Ticked MakeSnapshot(const std::shared_ptr<Entry>& entry, absl::Time now, bool estimates);
  // REQUIRES: entry.mutex is held, here and below.
  void AppendRecord(Entry& entry, const std::string& record) const;
  // What was seen since the last tick: it decides what may be attached or changed, also when that
  // is read again.
  void AppendNewFacts(Entry& entry) const;

  const WorkflowTableOptions options_;
  JobTable& jobs_;
  Metrics* const metrics_;
  // Guards all below, and Entry::followed. Taken under the lock of a job or of an entry (Tick()
  // asks for the workflow of a job), never together with that of a table.
  mutable std::mutex followers_mutex_;
  absl::flat_hash_map<std::string, std::vector<std::shared_ptr<Entry>>> followers_;  // by job id
};

}  // namespace tidemark::service
