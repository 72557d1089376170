// All workflows of a master: each a LiveWorkflow, its log and its newest snapshot.
//
// As with jobs (job_table.h), nothing is published before it is durable: a submission is answered
// when its record is, and a snapshot published when its tick is.
//
// Thread-safe: a lock for the table, which is never held while waiting for anything, and one for
// each workflow, which is never held while estimating, but for O(jobs + stages) while the snapshot
// of a tick is made. Knows no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/estimate/application_estimate.h"
#include "master/service/job_table.h"
#include "master/service/journal.h"
#include "master/service/kept_ended.h"
#include "master/service/metrics.h"
#include "master/service/shares.h"
#include "master/service/tick_pace.h"
#include "master/store/log_record.h"
#include "master/store/name_space.h"
#include "master/workflow/live_workflow.h"
#include "tidemark/job.h"
#include "tidemark/job_query.h"
#include "tidemark/plan.h"

namespace tidemark::service {

struct WorkflowTableOptions {
  workflow::LiveWorkflowOptions live;
  std::size_t jobs_per_workflow_max = 1000;
  std::size_t workflows_max = 1000;  // the shares of `jobs` say how many one may run
  std::string data_dir;  // of logs to recover from; empty: a workflow is gone with its master
  // Profiles of earlier runs of jobs of a name that may teach `job`, the most recent first. From
  // any thread; may be empty.
  std::function<std::vector<JobProfile>(const std::string& name, const store::Reported& job)> runs;
  // What a node gets done that was measured; likewise.
  std::function<std::optional<ResourceProfile>()> node;
  // May take long; called without any lock.
  std::function<absl::StatusOr<estimate::Estimate>(const workflow::LiveQuestion&)> estimate =
      [](const workflow::LiveQuestion& question) { return workflow::EstimateLive(question); };
  next::service::JobHub* hub = nullptr;  // as in JobTableOptions
  TickPace pace;
};

struct WorkflowRecovery {
  std::size_t workflows = 0;
  absl::Time latest = absl::InfinitePast();  // of those that go on: no instant may be before
  std::vector<std::string> damages;  // for an operator: what could not be read, and where it is now
};

class WorkflowTable {
 public:
  // `jobs`, whose journal is used, and `metrics`, which may be null, must outlive the table.
  WorkflowTable(WorkflowTableOptions options, JobTable& jobs, Metrics* metrics = nullptr);
  ~WorkflowTable();

  // Takes up the workflows of data_dir and makes the next snapshot of each, of the instant of its
  // last, so that no sequence number is published twice. REQUIRES: jobs were recovered,
  // nothing was submitted yet.
  absl::StatusOr<WorkflowRecovery> Recover();

  // Both give the position in the journal up to which everything must be durable before anybody is
  // told of it, and do not wait for that.
  //
  // Errors: those of CheckWorkflow(). AlreadyExists: another workflow of that id.
  // ResourceExhausted: workflows, share_percent. Unavailable: the journal fails; nothing was done.
  absl::StatusOr<Journal::Mark> Submit(const next::Plan& plan, const Sender& sender,
                                       absl::Time now);
  // Errors: those of LiveWorkflow::Attach(). NotFound: no such workflow. Unavailable: as above.
  absl::StatusOr<Journal::Mark> Attach(const std::string& workflow_id, const std::string& job_name,
                                       const std::string& job_id, absl::Time now);

  // Errors: those of LiveWorkflow::Update(). NotFound, Unavailable: as above.
  absl::StatusOr<Journal::Mark> Update(const std::string& workflow_id,
                                       const next::PlanChange& change, absl::Time now);
  // One that has ended; one that is not known is OK, and so is one that is not of `run_uid`, if
  // that is not empty. FailedPrecondition: it runs.
  absl::Status Forget(const std::string& workflow_id, const std::string& run_uid);

  // A job has a new snapshot, not null, which was published. O(workflows it is part of).
  void Observe(const std::shared_ptr<const next::Snapshot>& job);
  // Ticks running workflows that have news since pace.interval_min or were not ticked for
  // pace.interval, heavy ones in turns, and returns the new snapshots. Waits until they are
  // durable; those of a disk that fails come with a later call. REQUIRES: one caller at a time.
  std::vector<std::shared_ptr<const next::Snapshot>> TickDue(absl::Time now);

  // With their history, to ask what would be: one that was submitted, as it is, and one that was
  // not. `name_space`: which ids whoever asks might ask for.
  absl::StatusOr<workflow::LiveWorkflow> Copy(const std::string& workflow_id) const;
  absl::StatusOr<workflow::LiveWorkflow> Imagine(const next::Plan& plan,
                                                 const std::string& name_space,
                                                 absl::Time now) const;

  // Jobs whose snapshots running workflows wait for.
  std::size_t followed_jobs() const;
  Journal& journal() const { return jobs_.journal(); }

 private:
  struct Entry {
    Entry(workflow::LiveWorkflow workflow, absl::Time at, std::string names);
    // Tells this workflow from every other of the same id; the same after a recovery.
    std::uint64_t run() const {
      return static_cast<std::uint64_t>(absl::ToUnixNanos(submitted_at));
    }

    const std::string id;
    const absl::Time submitted_at;
    const std::string name_space;  // of whoever submitted it

    // Guarded by the table's lock.
    std::uint64_t number = 0;  // in the order of submission
    std::string reporter;      // for whom it is counted; set before the table knows it
    absl::flat_hash_set<std::string> followed;

    std::mutex following;  // held by who brings `followed` up to date; taken before the others
    std::mutex mutex;      // guards all below
    workflow::LiveWorkflow live;
    std::shared_ptr<Journal::Log> log;
    store::LogKey key = store::NewLogKey();
    Journal::Mark mark;                            // of the last record, if it is kept
    std::shared_ptr<const next::Snapshot> newest;  // that may be shown
    bool is_published = true;
    Shares::Holding holding;
    absl::Time ticked_at = absl::InfinitePast();
    absl::Duration tick_cost;  // CPU time of the last tick; before the first, a guess
    bool has_news = true;
  };

  std::shared_ptr<Entry> Find(const std::string& workflow_id) const;
  std::vector<std::shared_ptr<Entry>> All() const;
  std::string WorkflowOf(const std::string& job_id) const;
  absl::Status CheckJournal() const;
  absl::StatusOr<std::shared_ptr<Entry>> Open(const next::Plan& plan, const Sender& sender,
                                              absl::Time now);
  void Forget(const KeptEnded::One& ended);
  absl::Status EnterHub(const Entry& entry) const;
  // Follows the jobs that the workflow wants now and no others, and gives it the newest snapshots
  // of new ones. REQUIRES: no lock of the entry is held, here and in the next three.
  void Follow(const std::shared_ptr<Entry>& entry);
  void LoadHistory(Entry& entry) const;
  void ObserveNewest(Entry& entry, const std::string& job_id) const;
  // Makes the next snapshot; without an estimate, which the next one has. REQUIRES: as above; one
  // caller at a time.
  void Tick(Entry& entry, absl::Time now, bool estimates = true);
  // REQUIRES: entry.mutex is held, here and below.
  void AppendRecord(Entry& entry, const std::string& record);
  // What was seen since the last tick: it decides what may be attached or changed, also when that
  // is read again.
  void AppendNewFacts(Entry& entry);
  bool IsDue(const Entry& entry, absl::Time now) const;
  std::vector<std::shared_ptr<const next::Snapshot>> Publish();
  void End(const std::shared_ptr<Entry>& entry);

  const WorkflowTableOptions options_;
  JobTable& jobs_;
  Metrics* const metrics_;
  std::vector<std::shared_ptr<Entry>> unpublished_;  // of the caller of TickDue()
  mutable std::mutex mutex_;                         // guards all below
  absl::flat_hash_map<std::string, std::shared_ptr<Entry>> workflows_;
  KeptEnded kept_;  // by reporter, and those that have ended
  absl::flat_hash_map<std::string, std::vector<std::shared_ptr<Entry>>> followers_;  // by job id
  std::uint64_t submitted_ = 0;
};

}  // namespace tidemark::service
