// All jobs of a master. Each has a JobMonitor and an event log. live_table.h describes the rules
// that jobs and workflows share.
//
// Thread-safe as defined in live_table.h.
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

// Keeps the tasks of ended jobs in a fixed amount of memory. The newest lists are kept; JobTable
// rereads other lists from the logs of their jobs.
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
  std::mutex mutex_;  // Guards all members below.
  std::size_t bytes_ = 0;
  std::deque<std::pair<std::size_t, std::shared_ptr<const JobTasks>>> kept_;  // oldest first
};

// Removes all attempts after the first `most`, and adds their number to the omitted attempts.
void KeepFirstTasks(std::size_t most, JobTasks& list);
// Keeps at most `most` attempts, in descending order of their times. An attempt without a known end
// counts until the time of the list; attempts without a known start follow. O(n log n) for n
// attempts.
void SelectLongest(std::size_t most, JobTasks& list);

// Returns the part of a stored list that matches `query`. If the list is incomplete, returns its
// attempts only if `query` limits their number to no less than the number of all attempts.
JobTasks SelectTasks(const JobTasks& kept, const TaskQuery& query);

// Conditions for writing a checkpoint of a job (store/recovery.h). A job needs a checkpoint if its
// ticks since the last checkpoint, which a restart would repeat, took much processor time.
struct CheckpointOptions {
  absl::Duration after = absl::Milliseconds(20);
  int ticks_over = 50;  // minimum ratio of the ticks' time to the time of writing
};

struct JobTableOptions {
  JobMonitorOptions job;
  std::size_t jobs_max = 1000;
  std::size_t job_bytes_max = std::size_t{16} << 30;
  ShareOptions shares;  // for all resources except jobs_max
  // Directory of logs for users, which are not made durable. If it is empty or equal to data_dir,
  // no such logs are written.
  std::string event_log_dir;
  std::string data_dir;  // directory of recovered logs; if empty, a job is lost with its master
  JournalOptions journal;
  CheckpointOptions checkpoints;
  std::shared_ptr<store::Disk> disk;  // for data_dir; null means the file system with syncs
  // Called for every job that ends, before its end is durable. If the master is killed at that
  // moment, the function is called again after the restart. May be empty.
  std::function<void(const store::FinishedJob&)> on_end;
  // Called for each accepted event, in order within its source, while no other thread changes its
  // job. May be empty.
  std::function<void(const Event&)> on_event;
  // Returns true if `on_event` accepts more events of the job now. Otherwise calls `when_room`
  // later. Called before events of callers that must not block. May be empty.
  std::function<bool(const std::string& job_id, const std::function<void()>& when_room)> has_room;
  // Called for each restored running job, before any of its events. May be empty.
  std::function<void(const std::string& job_id, const std::string& run_uid, absl::Time now)>
      on_resume;
  // Returns the past runs of jobs named `name` that `job` may use, newest first. The caller of
  // TickDue() calls it once for each job and name, before a snapshot. May be empty.
  std::function<std::vector<PastRun>(const std::string& name, const store::Reported& job)>
      past_runs;
  // Returns the deadline for a job named `name` that states none. May be empty.
  std::function<std::optional<absl::Time>(const std::string& name, absl::Time now)> deadline_of;
  // Receives all jobs and workflows, and may reject an ID. Null if there is no hub. Must outlive
  // the table.
  JobHub* hub = nullptr;
  TickPace pace;
  // True if heavy estimates and checkpoints run on their own thread. Otherwise the caller of
  // TickDue() runs them.
  bool has_heavy_thread = false;
};

// The result of an event.
struct IngestResult {
  absl::Status status;  // OK, or the reason for a rejection
  Journal::Mark mark;   // once durable, the event need not be resent
  // true if the job exists; `wanted` and `wants_points` are then its requests
  bool is_of_job = false;
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
  // immediately. A torn end is cut off and stored next to the log, and an unusable log is renamed.
  // Returns errors of the file system.
  absl::StatusOr<Recovery> Recover(absl::Time now, std::size_t threads);

  // Parses, logs and applies an event from the network. `sender` is used if the event opens a job.
  // Blocks while an estimate of the job runs.
  IngestResult Ingest(const wire::ReceivedEvent& received, absl::Time now,
                      const Sender& sender = {});
  // Like Ingest(), but for a thread that must not block. If the job is busy, returns nullopt, has
  // no effect, and calls `when_free` once, on any thread, when the event can be accepted.
  std::optional<IngestResult> IngestUnlessBusy(const wire::ReceivedEvent& received, absl::Time now,
                                               const Sender& sender,
                                               const std::function<void()>& when_free);
  // Receives an event from this process. Encodes the event only if the job has a log.
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
  // Like ListTasks(), but for a thread that must not block. If the job is busy, returns nullopt and
  // calls `when_free` once, on any thread, when the caller should retry. With an empty `when_free`,
  // blocks instead.
  std::optional<absl::StatusOr<ListedTasks>> ListTasks(
      const std::string& id, const TaskQuery& query, absl::Time now,
      const std::function<void()>& when_free) const;
  // Returns true if ListTasks() of an ended job needs LoadTasks() first, because the tasks are in
  // the log but not in memory.
  bool MustLoadTasks(const std::string& id) const;
  // Reads the tasks of an ended job from its log, unless they are in memory. If this fails,
  // ListTasks() reports that the tasks are not stored. Reads at most 256 MiB. O(bytes of the log).
  void LoadTasks(const std::string& id);

  // Sets or replaces the deadline of a running job, in an event of an additional source. Returns
  // the mark that must be durable before the caller is answered. Fails with NotFound for an unknown
  // job and with FailedPrecondition for an ended one. If the job is busy, behaves like ListTasks().
  std::optional<absl::StatusOr<Journal::Mark>> SetDeadline(const std::string& id,
                                                           absl::Time deadline, absl::Time now,
                                                           const std::function<void()>& when_free);

  // Returns the logs that ReadPastWaits() needs for an ended job, with the other jobs newest first.
  // Returns nullopt if the job is running or unknown, or has no log.
  std::optional<LogsOfRun> LogsOfEnded(const std::string& id) const;

  // Lists the past forecasts of a job. Fails with NotFound for an unknown job.
  struct ListedForecasts {
    std::vector<PastForecast> forecasts;
    Journal::Mark mark;
  };
  absl::StatusOr<ListedForecasts> ListForecasts(const std::string& id) const {
    return *ListForecasts(id, nullptr);
  }
  // If the job is busy, behaves like ListTasks().
  std::optional<absl::StatusOr<ListedForecasts>> ListForecasts(
      const std::string& id, const std::function<void()>& when_free) const;

  // Also measures the free space of the disk, and writes checkpoints.
  std::vector<PublishedJob> TickDue(absl::Time now) override;

  // A job that reports a workflow (JobOpened::workflow).
  struct Joining {
    std::string job_id;
    const JobWorkflow& workflow;
    std::optional<absl::Time> deadline;
    Sender sender;
  };
  // Functions of the table of workflows, which may be called on any thread while a job is locked.
  struct Workflows {
    // Returns the workflow of a job, for the job's snapshots, or an empty string.
    std::function<std::string(const std::string& job_id)> workflow_of;
    // Returns the name under which the runs of a job are stored, or an empty string if the job is
    // not in an open workflow.
    std::function<std::string(const std::string& job_id)> history_name_of;
    // Adds a job that reports a workflow. Called before each tick of the job while it fails with
    // Unavailable. Any other error becomes a note of the job.
    std::function<absl::Status(const Joining& job, absl::Time now)> join;
  };
  // The only known job of a workflow, which ended before this master started.
  struct RestoredLone {
    std::string job_id;
    JobWorkflow workflow;
    std::string name_space;
  };
  // Returns these jobs once, in the order in which they were opened. REQUIRES: no other thread uses
  // the table.
  std::vector<RestoredLone> TakeRestoredLones() { return std::exchange(restored_lones_, {}); }
  // If a function is empty, no job has a workflow. REQUIRES: no other thread uses the table.
  void SetWorkflows(Workflows workflows) {
    AwaitHeavy();
    workflows_ = std::move(workflows);
  }

 private:
  struct Job final : LiveEntry {
    Job(JobMonitor job_monitor, Snapshot first, absl::Time opened_at, const Sender& sender,
        Shares& shares)
        : LiveEntry(std::make_shared<const Snapshot>(std::move(first)), opened_at, sender, shares),
          monitor(std::move(job_monitor)) {}
    bool has_news() const override { return monitor.has_news(); }
    absl::Duration ExpectedCost() const override;

    // The entry's lock guards the members below.
    JobMonitor monitor;
    std::size_t bytes = 0;  // total size of its events
    bool is_over_bytes = false;
    std::size_t ticked_bytes = 0;  // state_bytes() at the last tick
    bool has_past_runs = false;    // whether past runs were loaded for its name
    bool has_joined = false;       // whether Workflows::join has returned, not with Unavailable
    std::string outside_note;      // reason why the job is not part of its workflow, or empty
    std::unique_ptr<store::EventLogWriter> trace;  // for users; contains the same bytes as the log
    absl::Duration unkept_cost;                    // cost of all ticks since the last checkpoint
    absl::Duration checkpoint_cost;                // cost of the last checkpoint
    absl::Time latest = began_at;                  // latest time passed to the monitor
    std::vector<PastForecast> forecasts;           // set after the end of the job
    std::weak_ptr<const JobTasks> tasks;  // set after the end of the job; null if not in memory

    // Returns `now`, or the latest time so far if that is later. The monitor needs increasing
    // times, but two threads may arrive here in a different order than they read the clock.
    // REQUIRES: mutex is held.
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
  // Locks a job. If the job is busy, returns a lock that is not held.
  static JobLock Lock(Job& job, const WhenFree* when_free);
  // An event with its bytes, which were received or are encoded for the log.
  class Incoming {
   public:
    Incoming(const wire::ReceivedEvent& bytes, Event& parsed) : event(parsed), received_(&bytes) {}
    explicit Incoming(Event& local) : event(local) {}
    // Encodes the event unless it was received.
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
  // This function and those below require job.mutex.
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
  // Returns the name under which the runs of the job are stored, or an empty string if unknown.
  std::string HistoryNameOf(const Job& job) const;
  void LoadPastRuns(Job& job);
  void End(Job& job);
  bool WantsCheckpoint(const Job& job) const;
  void SaveCheckpoint(Job& job) const;
  void DropCheckpoint(const std::string& job_id) const;
  void Restore(store::RestoredJob restored, absl::Time now);
  void ContinueTrace(const store::RestoredJob& restored, Job& job) const;

  const JobTableOptions options_;
  Metrics* const metrics_;
  Workflows workflows_;
  // number of checkpoints in this round; used by the caller of TickDue()
  std::size_t checkpoints_ = 0;
  EndedTasks ended_tasks_;
  std::vector<RestoredLone> restored_lones_;
};

}  // namespace tidemark::service
