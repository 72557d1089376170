// All jobs of a master: each a JobMonitor and its event log. What holds for jobs and workflows
// alike is in live_table.h.
//
// Thread-safe, as said there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/service/ended_tasks.h"
#include "master/service/live_table.h"
#include "master/service/metrics.h"
#include "master/service/past_waits.h"
#include "master/store/disk.h"
#include "master/store/event_log.h"
#include "master/store/history.h"
#include "master/store/restore.h"
#include "proto/wire/parse_event.h"
#include "tidemark/job_monitor.h"
#include "tidemark/job_tasks.h"

namespace tidemark::service {

// When a job's estimates are written down (store/checkpoint.h), in CPU time of its ticks since
// then: so long would a restart take to make them again.
struct CheckpointOptions {
  absl::Duration after = absl::Milliseconds(20);
  int ticks_over = 50;  // and at least so many times what writing takes
};

struct JobTableOptions {
  JobMonitorOptions job;
  std::size_t jobs_max = 1000;
  std::size_t job_bytes_max = std::size_t{16} << 30;
  ShareOptions shares;  // of all but jobs_max, which is above
  // Of logs for people, written as well as it goes. Empty, or data_dir: none beside the journal's.
  std::string event_log_dir;
  std::string data_dir;  // of logs to recover from; empty: a job is gone with its master
  JournalOptions journal;
  CheckpointOptions checkpoints;
  std::shared_ptr<store::Disk> disk;  // under data_dir; null: the file system, with syncs
  // Called once for every job that ends, before that is made durable: again, should the master be
  // killed at that moment. May be empty.
  std::function<void(const store::FinishedJob&)> on_end;
  // Called for each accepted event, in order within its source, while no other thread changes its
  // job. May be empty.
  std::function<void(const Event&)> on_event;
  // Returns whether `on_event` accepts more events of the job now; if not, calls `when_room` later.
  // Asked before events of callers that do not wait. May be empty.
  std::function<bool(const std::string& job_id, const std::function<void()>& when_room)> has_room;
  // Called for each job that is resumed while it runs, before any event of it. May be empty.
  std::function<void(const std::string& job_id, const std::string& run_uid, absl::Time now)>
      on_resume;
  // Returns the past runs of jobs of a name from which `job` may learn, newest first. Called once
  // for a job, by the caller of TickDue(), before its first snapshot. May be empty.
  std::function<std::vector<PastRun>(const std::string& name, const store::Reported& job)>
      past_runs;
  // Returns the deadline of a job of that name that is opened without one. May be empty.
  std::function<std::optional<absl::Time>(const std::string& name, absl::Time now)> deadline_of;
  // Receives all jobs and workflows; may refuse an id. Null if there is no hub. Outlives the table.
  JobHub* hub = nullptr;
  TickPace pace;
  // Whether heavy estimates and checkpoints have their own thread. If false, the caller of
  // TickDue() makes them.
  bool has_heavy_thread = false;
};

// What became of an event.
struct IngestResult {
  absl::Status status;  // OK, or the reason to refuse it; either way it need not be sent again ...
  Journal::Mark mark;   // ... once this is durable
  bool is_of_job = false;     // a job answers, which asks for ...
  NamedGroups wanted;         // ... these names
  bool wants_points = false;  // ... and, or not, for points
};

class JobTable final : public LiveTable {
 public:
  // `metrics` may be null and must outlive the table.
  explicit JobTable(JobTableOptions options, Metrics* metrics = nullptr);
  ~JobTable() override { AwaitHeavy(); }

  // Takes up the jobs of data_dir, which must exist, on `threads` threads. REQUIRES: nothing was
  // ingested yet. Of a damaged log everything else is taken up, and its next snapshot made at once;
  // a torn end is cut off and kept beside it, a log without any use is renamed. Errors are those of
  // the file system.
  absl::StatusOr<Recovery> Recover(absl::Time now, std::size_t threads);

  // Receives an event from the network: parses, keeps and folds it. `sender` matters if the event
  // opens a job. Waits while an estimate of the job is made.
  IngestResult Ingest(const wire::ReceivedEvent& received, absl::Time now,
                      const Sender& sender = {});
  // Does the same for a thread that must not wait. If the job is busy, returns nullopt without
  // effect, and calls `when_free` once, on any thread, when the event can be taken.
  std::optional<IngestResult> IngestUnlessBusy(const wire::ReceivedEvent& received, absl::Time now,
                                               const Sender& sender,
                                               const std::function<void()>& when_free);

  // What a job says of its tasks, and when it may be told; of one that has ended, what they did.
  // NotFound: no such job. FailedPrecondition: it has ended, and that is not kept.
  struct ListedTasks {
    JobTasks tasks;
    Journal::Mark mark;
  };
  absl::StatusOr<ListedTasks> ListTasks(const std::string& id, const TaskQuery& query,
                                        absl::Time now) const;
  // Returns true if ListTasks() of a job that has ended needs LoadTasks() first: its tasks are in
  // its log and not in memory.
  bool MustLoadTasks(const std::string& id) const;
  // Reads the tasks of a job that has ended from its log. Without effect if they are in memory. If
  // it fails, ListTasks() reports that they are not kept. O(bytes of the log, of which it reads up
  // to 256 MiB).
  void LoadTasks(const std::string& id);

  // Returns the logs from which ReadPastWaits() learns the waits of a job that has ended, the
  // newest other job first. Returns nullopt if the job runs, is not known, or has no log.
  std::optional<LogsOfRun> LogsOfEnded(const std::string& id) const;

  // Returns the predicted ends of a job since it began. NotFound: there is no such job.
  struct ListedForecasts {
    std::vector<PastForecast> forecasts;
    Journal::Mark mark;
  };
  absl::StatusOr<ListedForecasts> ListForecasts(const std::string& id) const;

  // Also asks how much of the disk is free, and keeps estimates.
  std::vector<PublishedJob> TickDue(absl::Time now) override;

  // Each snapshot names the workflow that follows its job from now on. `workflow_of` may be called
  // on any thread; empty: no workflow does. REQUIRES: no other thread uses the table.
  void SetWorkflowOf(std::function<std::string(const std::string& job_id)> workflow_of) {
    AwaitHeavy();
    workflow_of_ = std::move(workflow_of);
  }

 private:
  struct Job final : LiveEntry {
    Job(JobMonitor job_monitor, Snapshot first, absl::Time opened_at, const Sender& sender,
        Shares& shares)
        : LiveEntry(std::make_shared<const Snapshot>(std::move(first)), opened_at, sender, shares),
          monitor(std::move(job_monitor)) {}
    bool has_news() const override { return monitor.has_news(); }
    absl::Duration ExpectedCost() const override;

    // All below are guarded by the lock of the entry.
    JobMonitor monitor;
    std::size_t bytes = 0;  // of its events
    bool is_over_bytes = false;
    std::size_t ticked_bytes = 0;                  // state_bytes() at the last tick
    bool has_past_runs = false;                    // they were loaded for its name
    std::unique_ptr<store::EventLogWriter> trace;  // for people; its bytes equal the log's
    absl::Duration unkept_cost;                    // of all ticks since the last checkpoint
    absl::Duration checkpoint_cost;                // of that
    absl::Time latest = began_at;                  // latest instant passed to the monitor
    std::vector<PastForecast> forecasts;           // of one that has ended
    std::weak_ptr<const JobTasks> tasks;           // of one that has ended; null: not in memory

    // `now` for the monitor, which wants instants in order: two threads may look at the clock in
    // one order and get here in the other. REQUIRES: mutex is held.
    absl::Time NotBefore(absl::Time now) { return latest = std::max(latest, now); }
    // REQUIRES: mutex is held.
    IngestResult Answer(absl::Status status) const {
      return {.status = std::move(status),
              .mark = mark,
              .is_of_job = true,
              .wanted = monitor.wanted_names(),
              .wants_points = monitor.wants_points()};
    }
  };

  using JobLock = std::unique_lock<EntryMutex>;
  // Who wants to be called when a job is free; null: who waits for it.
  using WhenFree = std::function<void()>;

  // Returns the final snapshot of a job whose tasks may be read from its log, or null.
  std::shared_ptr<const Snapshot> Loadable(Job& job) const;
  static Job& AsJob(const std::shared_ptr<LiveEntry>& entry) { return static_cast<Job&>(*entry); }
  Ticked Tick(const std::shared_ptr<LiveEntry>& entry, absl::Time now) override;
  void OnPublished(const std::shared_ptr<LiveEntry>& entry) override;
  std::vector<std::string> FilesOf(const std::string& id) const override;
  // Returns an unlocked lock if the job is busy.
  static JobLock Lock(Job& job, const WhenFree* when_free);
  std::optional<IngestResult> Ingest(const wire::ReceivedEvent& received, absl::Time now,
                                     const Sender& sender, const WhenFree* when_free);
  absl::StatusOr<std::shared_ptr<Job>> Open(const wire::ReceivedEvent& received, const Event& event,
                                            const Sender& sender,
                                            const std::shared_ptr<Job>& before,
                                            IngestResult& taken);
  absl::Status TakeDisk(std::size_t bytes, unsigned slack, Job& job);
  void CheckDisk();
  void OpenLogs(Job& job) const;
  // REQUIRES: job.mutex is held, here and below.
  static bool IsFollowedBy(const Event& event, const Job& job);
  IngestResult Take(const wire::ReceivedEvent& received, Event& event, absl::Time now, Job& job);
  void SayDeadline(const Event& opening, absl::Time now, Job& job);
  static bool IsOfRun(const wire::ReceivedEvent& received, const Job& job);
  IngestResult Reject(const wire::ReceivedEvent& received, const absl::Status& reason, Job& job);
  // Adds what `encode` appends to a string to the logs of the job.
  template <typename Encode>
  void AppendRecord(Job& job, Encode encode) const;
  void AppendRefusal(const absl::Status& reason, const AcceptedSequence& event, Job& job);
  absl::Status Charge(std::size_t bytes, const Event* event, Job& job);
  // Notes a log that can no longer be written and goes on without it.
  static void Logged(const absl::Status& status, Job& job);
  void LoadPastRuns(Job& job);
  void End(Job& job);
  bool WantsCheckpoint(const Job& job) const;
  void SaveCheckpoint(Job& job) const;
  void DropCheckpoint(const std::string& job_id) const;
  void Restore(store::RestoredJob restored, absl::Time now);
  void ContinueTrace(const store::RestoredJob& restored, Job& job) const;

  const JobTableOptions options_;
  Metrics* const metrics_;
  std::function<std::string(const std::string& job_id)> workflow_of_;
  std::size_t checkpoints_ = 0;  // of this round; of the caller of TickDue()
  EndedTasks ended_tasks_;
};

}  // namespace tidemark::service
