// All jobs of a master. Each has a JobMonitor and an event log. live_table.h describes the rules
// that jobs and workflows share.
//
// Thread-safe, as live_table.h defines.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/service/live_table.h"
#include "master/service/live_waits.h"
#include "master/service/metrics.h"
#include "master/store/disk.h"
#include "master/store/event_log.h"
#include "master/store/history.h"
#include "master/store/recovery.h"
#include "proto/wire/encode_event.h"
#include "proto/wire/parse_event.h"
#include "tidemark/job_monitor.h"
#include "tidemark/job_tasks.h"

namespace tidemark::service {

// Keeps the tasks of ended jobs in a fixed amount of memory. The newest lists stay; JobTable reads
// other lists again from the logs of their jobs.
//
// Thread-safe.
class EndedTasks {
 public:
  // `bytes_max` limits the estimated size of the lists.
  explicit EndedTasks(std::size_t bytes_max = std::size_t{32} << 20) : bytes_max_(bytes_max) {}

  // Stores a list. The pointer expires when newer lists replace it.
  std::weak_ptr<const JobTasks> Add(JobTasks tasks);

 private:
  const std::size_t bytes_max_;
  std::mutex mutex_;  // guards the rest
  std::size_t bytes_ = 0;
  std::deque<std::pair<std::size_t, std::shared_ptr<const JobTasks>>> kept_;  // oldest first
};

// Returns the part of a stored list that matches `query`.
JobTasks SelectTasks(const JobTasks& kept, const TaskQuery& query);

// Conditions for writing a checkpoint of a job (store/recovery.h). They depend on the processor
// time of its ticks since the last checkpoint, which a restart would have to repeat.
struct CheckpointOptions {
  absl::Duration after = absl::Milliseconds(20);
  int ticks_over = 50;  // minimum multiple of the time that writing takes
};

struct JobTableOptions {
  JobMonitorOptions job;
  std::size_t jobs_max = 1000;
  std::size_t job_bytes_max = std::size_t{16} << 30;
  ShareOptions shares;  // for all resources but jobs_max
  // Directory of logs that people read, which are not made durable. No such logs are written if it
  // is empty or equal to data_dir.
  std::string event_log_dir;
  std::string data_dir;  // directory of recovered logs; if empty, a job is lost with its master
  JournalOptions journal;
  CheckpointOptions checkpoints;
  std::shared_ptr<store::Disk> disk;  // for data_dir; null means the file system with syncs
  // Called for every job that ends, before its end is durable. If the master is killed at that
  // moment, it is called again after the restart. May be empty.
  std::function<void(const store::FinishedJob&)> on_end;
  // Called for each accepted event, in order within its source, while no other thread changes its
  // job. May be empty.
  std::function<void(const Event&)> on_event;
  // Returns true if `on_event` accepts more events of the job now. If not, calls `when_room`
  // later. Checked before events of callers that must not block. May be empty.
  std::function<bool(const std::string& job_id, const std::function<void()>& when_room)> has_room;
  // Called for each running job that is restored, before any of its events. May be empty.
  std::function<void(const std::string& job_id, const std::string& run_uid, absl::Time now)>
      on_resume;
  // Returns the past runs of jobs named `name` that `job` may use, newest first. Called once for
  // each job and name, by the caller of TickDue(), before a snapshot. May be empty.
  std::function<std::vector<PastRun>(const std::string& name, const store::Reported& job)>
      past_runs;
  // Returns the deadline for a job named `name` that states none. May be empty.
  std::function<std::optional<absl::Time>(const std::string& name, absl::Time now)> deadline_of;
  // Receives all jobs and workflows; may reject an ID. Null if there is no hub. Outlives the table.
  JobHub* hub = nullptr;
  TickPace pace;
  // True if heavy estimates and checkpoints have their own thread. If false, the caller of
  // TickDue() makes them.
  bool has_heavy_thread = false;
};

// The result of an event.
struct IngestResult {
  absl::Status status;        // OK, or the reason for a rejection
  Journal::Mark mark;         // once durable, the event need not be sent again
  bool is_of_job = false;     // the job exists; `wanted` and `wants_points` are its requests
  NamedGroups wanted;         // the requested names of key groups
  bool wants_points = false;  // true if points are requested
};

class JobTable final : public LiveTable {
 public:
  // `metrics` may be null and must outlive the table.
  explicit JobTable(JobTableOptions options, Metrics* metrics = nullptr);
  ~JobTable() override { AwaitHeavy(); }

  // Restores the jobs of data_dir, which must exist, on `threads` threads. REQUIRES: no event has
  // been received. The readable parts of a damaged log are restored, and its next snapshot is made
  // immediately. A torn end is cut off and stored next to the log; an unusable log is renamed.
  // Returns errors of the file system.
  absl::StatusOr<Recovery> Recover(absl::Time now, std::size_t threads);

  // Parses, logs and applies an event from the network. `sender` matters if the event opens a job.
  // Blocks while an estimate of the job runs.
  IngestResult Ingest(const wire::ReceivedEvent& received, absl::Time now,
                      const Sender& sender = {});
  // Works like Ingest() for a thread that must not wait. If the job is busy, has no effect,
  // returns nullopt, and calls `when_free` once, on any thread, when the event can be accepted.
  std::optional<IngestResult> IngestUnlessBusy(const wire::ReceivedEvent& received, absl::Time now,
                                               const Sender& sender,
                                               const std::function<void()>& when_free);
  // Receives an event of this process. Encodes the event only if the job has a log.
  IngestResult IngestLocal(const Event& event, absl::Time now, const Sender& sender = {});

  // Lists the tasks of a job, and the mark that must be durable before they are sent. Fails with
  // NotFound for an unknown job, or with FailedPrecondition if the tasks of an ended job are not
  // stored.
  struct ListedTasks {
    JobTasks tasks;
    Journal::Mark mark;
  };
  absl::StatusOr<ListedTasks> ListTasks(const std::string& id, const TaskQuery& query,
                                        absl::Time now) const {
    return *ListTasks(id, query, now, nullptr);
  }
  // Works like ListTasks() for a thread that must not wait. If the job is busy, returns nullopt
  // and calls `when_free` once, on any thread, when the caller should retry. An empty `when_free`
  // blocks.
  std::optional<absl::StatusOr<ListedTasks>> ListTasks(
      const std::string& id, const TaskQuery& query, absl::Time now,
      const std::function<void()>& when_free) const;
  // Returns true if ListTasks() of an ended job needs LoadTasks() first, because the tasks are in
  // the log and not in memory.
  bool MustLoadTasks(const std::string& id) const;
  // Reads the tasks of an ended job from its log, unless they are in memory. If it fails,
  // ListTasks() reports that they are not stored. Reads at most 256 MiB. O(bytes of the log).
  void LoadTasks(const std::string& id);

  // Returns the logs for ReadPastWaits() of an ended job, the newest other job first. Returns
  // nullopt if the job is running or unknown, or has no log.
  std::optional<LogsOfRun> LogsOfEnded(const std::string& id) const;

  // Lists the past forecasts of a job. Fails with NotFound for an unknown job.
  struct ListedForecasts {
    std::vector<PastForecast> forecasts;
    Journal::Mark mark;
  };
  absl::StatusOr<ListedForecasts> ListForecasts(const std::string& id) const {
    return *ListForecasts(id, nullptr);
  }
  // Treats a busy job as ListTasks() does.
  std::optional<absl::StatusOr<ListedForecasts>> ListForecasts(
      const std::string& id, const std::function<void()>& when_free) const;

  // Also measures the free space of the disk, and writes checkpoints.
  std::vector<PublishedJob> TickDue(absl::Time now) override;

  // Sets the function that returns the workflow of a job, for its snapshots. It may be called on
  // any thread; if empty, no job has one. REQUIRES: no other thread uses the table.
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

    // The lock of the entry guards all below.
    JobMonitor monitor;
    std::size_t bytes = 0;  // total size of its events
    bool is_over_bytes = false;
    std::size_t ticked_bytes = 0;                  // state_bytes() at the last tick
    bool has_past_runs = false;                    // past runs were loaded for its name
    std::unique_ptr<store::EventLogWriter> trace;  // for people; its bytes equal the log's
    absl::Duration unkept_cost;                    // cost of all ticks since the last checkpoint
    absl::Duration checkpoint_cost;                // cost of the last checkpoint
    absl::Time latest = began_at;                  // latest instant passed to the monitor
    std::vector<PastForecast> forecasts;           // set after the end of the job
    std::weak_ptr<const JobTasks> tasks;  // set after the end of the job; null if not in memory

    // Returns `now`, or the latest instant so far if that is later. The monitor needs instants in
    // order, but two threads may arrive here in another order than they read the clock. REQUIRES:
    // mutex is held.
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
  // Called when a job is free. If null, the caller blocks.
  using WhenFree = std::function<void()>;

  // Returns the final snapshot of a job whose tasks may be read from its log, or null.
  std::shared_ptr<const Snapshot> Loadable(Job& job) const;
  static Job& AsJob(const std::shared_ptr<LiveEntry>& entry) { return static_cast<Job&>(*entry); }
  Ticked Tick(const std::shared_ptr<LiveEntry>& entry, absl::Time now) override;
  void OnPublished(const std::shared_ptr<LiveEntry>& entry) override;
  std::vector<std::string> FilesOf(const std::string& id) const override;
  // Locks a job. Returns a lock that is not held if the job is busy.
  static JobLock Lock(Job& job, const WhenFree* when_free);
  // An event with its bytes, which were received or are encoded for the log.
  class Incoming {
   public:
    Incoming(const wire::ReceivedEvent& bytes, Event& parsed) : event(parsed), received_(&bytes) {}
    explicit Incoming(Event& local) : event(local) {}
    // Encodes the event if it was not received.
    const wire::ReceivedEvent& received() const {
      if (received_ == nullptr) received_ = &encoded_.emplace(wire::EncodeEvent(event));
      return *received_;
    }
    bool is_encoded() const { return received_ != nullptr; }

    Event& event;

   private:
    mutable const wire::ReceivedEvent* received_ = nullptr;
    mutable std::optional<wire::ReceivedEvent> encoded_;
  };

  std::optional<IngestResult> Ingest(const wire::ReceivedEvent& received, absl::Time now,
                                     const Sender& sender, const WhenFree* when_free);
  // Applies an event to `job`, or opens the job if `job` is null. `lock` holds the job's lock.
  std::optional<IngestResult> Ingest(const Incoming& incoming, std::shared_ptr<Job> job,
                                     JobLock lock, absl::Time now, const Sender& sender,
                                     const WhenFree* when_free);
  std::size_t SizeOf(const Incoming& incoming) const;
  absl::StatusOr<std::shared_ptr<Job>> Open(const Incoming& incoming, const Sender& sender,
                                            const std::shared_ptr<Job>& before,
                                            IngestResult& taken);
  absl::Status ChargeDisk(std::size_t bytes, unsigned slack, Job& job);
  void CheckDisk();
  void OpenLogs(Job& job) const;
  // REQUIRES: job.mutex is held, here and below.
  static bool IsFollowedBy(const Event& event, const Job& job);
  IngestResult Fold(const Incoming& incoming, absl::Time now, Job& job);
  void ApplyDeadline(const Event& opening, absl::Time now, Job& job);
  static bool IsOfRun(const wire::ReceivedEvent& received, const Job& job);
  IngestResult Reject(const wire::ReceivedEvent& received, const absl::Status& reason, Job& job);
  // Appends the bytes that `encode` produces to the logs of the job.
  template <typename Encode>
  void AppendRecord(Job& job, Encode encode) const;
  void AppendRefusal(const absl::Status& reason, const AcceptedSequence& event, Job& job);
  absl::Status Charge(std::size_t bytes, const Event* event, Job& job);
  // If `status` is an error, closes the trace and adds a note that it could not be written.
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
  std::size_t checkpoints_ = 0;  // number in this round; used by the caller of TickDue()
  EndedTasks ended_tasks_;
};

}  // namespace tidemark::service
