// All jobs of a master: each a JobMonitor, its event log and its newest snapshot.
//
// With a data directory nothing is told before it is durable: an event may be acknowledged when
// its position in the journal is, and a snapshot is published when its tick is. A table that is
// made anew from the directory then goes on where the one before was killed.
//
// Thread-safe: one lock for the table, one for each job. Nothing that takes time is done under that
// of the table: no job's lock is waited for and no file is touched, so jobs do not wait for one
// another. Knows no clock: instants come in, of one that never goes back (clock.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/service/job_hub.h"
#include "master/service/journal.h"
#include "master/service/kept_ended.h"
#include "master/service/metrics.h"
#include "master/service/shares.h"
#include "master/service/spinning_mutex.h"
#include "master/service/tick_pace.h"
#include "master/store/disk.h"
#include "master/store/event_log.h"
#include "master/store/history.h"
#include "master/store/name_space.h"
#include "master/store/restore.h"
#include "proto/wire/parse_event.h"
#include "tidemark/job.h"
#include "tidemark/job_monitor.h"

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
  // Earlier runs of jobs of a name that may teach `job`, newest first. Asked once for a job, by the
  // caller of TickDue(), before its first snapshot. May be empty.
  std::function<std::vector<PastRun>(const std::string& name, const store::Reported& job)>
      past_runs;
  // Told of all jobs; may refuse an id. Null: none is. Outlives the table.
  service::JobHub* hub = nullptr;
  TickPace pace;
};

// What became of an event.
struct IngestResult {
  absl::Status status;  // OK, or the reason to refuse it; either way it need not be sent again ...
  Journal::Position position = 0;     // ... once this is durable ...
  std::shared_ptr<Journal::Log> log;  // ... in this log
  bool is_of_job = false;             // a job answers, which asks for ...
  NamedGroups wanted;                 // ... these names
  bool wants_points = false;          // ... and, or not, for points

  Journal::Mark mark() const { return {position, log}; }
};

// Who sent an event that opens a job.
struct Sender {
  std::string name_space = store::kAllIds;  // which ids it might report
  std::string reporter;                     // for whom the job is counted; empty: the name space
};

// What was found in a data directory.
struct Recovery {
  std::size_t jobs = 0;
  std::size_t resumed = 0;  // of them, those whose estimates a checkpoint spared
  std::uint64_t records = 0;
  absl::Time latest = absl::InfinitePast();  // told to a job that goes on: no instant may be before
  std::vector<std::string> damages;  // for an operator: what could not be read, and where it is now
};

class JobTable {
 public:
  // `metrics` may be null and must outlive the table.
  explicit JobTable(JobTableOptions options, Metrics* metrics = nullptr);

  // Takes up the jobs of data_dir, which must exist, on `threads` threads. REQUIRES: nothing was
  // ingested yet. Of a damaged log everything else is taken up, and its next snapshot made at once;
  // a torn end is cut off and kept beside it, a log without any use is renamed. Errors are those of
  // the file system.
  absl::StatusOr<Recovery> Recover(absl::Time now, std::size_t threads);

  // Takes an event off the network: parse, keep, fold. `sender` matters if it opens a job.
  IngestResult Ingest(const wire::ReceivedEvent& received, absl::Time now,
                      const Sender& sender = {});

  // Ticks running jobs that have news since pace.interval_min or were not ticked for pace.interval,
  // heavy ones in turns (tick_round.h), and returns the new snapshots. Waits until they are
  // durable; those of a disk that fails come with a later call. REQUIRES: one caller at a time.
  std::vector<service::PublishedJob> TickDue(absl::Time now);

  // One that has ended; one that is not known is OK, and so is one that is not of `run_uid`, if
  // that is not empty. FailedPrecondition: it runs.
  absl::Status Forget(const std::string& job_id, const std::string& run_uid);

  // What was published of a job last, and the JobMonitor::running_stage() of the same tick; null of
  // a final one. Both null: not known.
  struct Running {
    std::shared_ptr<const Snapshot> snapshot;
    std::shared_ptr<const cost::RunningStage> stage;
  };
  Running GetRunning(const std::string& job_id) const;
  std::shared_ptr<const Snapshot> Newest(const std::string& job_id) const {
    return GetRunning(job_id).snapshot;
  }
  // Says in each snapshot from now on which plan follows the job; of `plan_of`, from any thread:
  // empty for none. REQUIRES: no other thread uses the table.
  void SayPlans(std::function<std::string(const std::string& job_id)> plan_of) {
    plan_of_ = std::move(plan_of);
  }
  // All of them, the newest job first.
  std::vector<std::shared_ptr<const Snapshot>> List() const;

  Journal& journal() { return journal_; }
  Shares& shares() { return shares_; }

 private:
  struct Job {
    explicit Job(JobMonitor job_monitor) : monitor(std::move(job_monitor)) {}

    // Set before the table knows the job.
    std::uint64_t number = 0;  // in the order of opening
    std::uint64_t run = 0;     // as in PublishedJob
    std::string reporter;      // for whom it is counted

    SpinningMutex mutex;  // guards all below
    JobMonitor monitor;
    std::size_t bytes = 0;  // of its events
    bool is_over_bytes = false;
    store::LogKey key = store::NewLogKey();  // of both logs, whose bytes are the same
    std::unique_ptr<store::EventLogWriter> log;
    std::shared_ptr<Journal::Log> journal;
    Journal::Mark mark;        // of the last record
    Running newest;            // that may be shown
    Running ticked;            // that will be, when `mark` is durable
    bool is_published = true;  // `ticked` is `newest`
    Shares::Holding holding;
    std::string name_space = store::kAllIds;  // of the reporter that opened it
    absl::Time opened_at = absl::InfinitePast();
    absl::Time ticked_at = absl::InfinitePast();
    absl::Duration tick_cost;                  // CPU time of the last tick
    absl::Duration unkept_cost;                // of all ticks since the last checkpoint
    absl::Duration checkpoint_cost;            // of that
    absl::Time latest = absl::InfinitePast();  // instant the monitor was told of

    // `now` for the monitor, which wants instants in order: two threads may look at the clock in
    // one order and get here in the other. REQUIRES: mutex is held.
    absl::Time NotBefore(absl::Time now) { return latest = std::max(latest, now); }
    // REQUIRES: mutex is held.
    IngestResult Answer(absl::Status status) const {
      return {.status = std::move(status),
              .position = mark.position,
              .log = mark.log,
              .is_of_job = true,
              .wanted = monitor.wanted_names(),
              .wants_points = monitor.wants_points()};
    }
  };

  std::shared_ptr<Job> Find(const std::string& job_id) const;
  std::vector<std::shared_ptr<Job>> All() const;
  absl::StatusOr<std::shared_ptr<Job>> Open(const wire::ReceivedEvent& received, const Event& event,
                                            const Sender& sender,
                                            const std::shared_ptr<Job>& before,
                                            IngestResult& taken);
  static bool IsFollowedBy(const Event& event, Job& job);
  absl::StatusOr<std::shared_ptr<Job>> Enter(const std::string& job_id,
                                             const std::shared_ptr<Job>& job,
                                             const std::shared_ptr<Job>& before);
  std::shared_ptr<Job> Forget(const KeptEnded::One& ended);
  absl::Status Entered(const Job& job) const;
  bool MakeRoomOf(const std::string& reporter);
  absl::Status TakeDisk(std::size_t bytes, unsigned slack, Job& job);
  void CheckDisk();
  void OpenLogs(const std::string& job_id, Job& job) const;
  static bool IsOfRun(const wire::ReceivedEvent& received, const Job& job);
  IngestResult Reject(const wire::ReceivedEvent& received, Job* job, const absl::Status& reason);
  // Adds what `encode` appends to a string to the logs of the job. REQUIRES: job.mutex is held,
  // here and below.
  template <typename Encode>
  void AppendRecord(Job& job, Encode encode);
  void AppendRefusal(const absl::Status& reason, const AcceptedSequence& event, Job& job);
  absl::Status Charge(std::size_t bytes, const Event* event, Job& job);
  // Notes a log that can no longer be written and goes on without it.
  static void Logged(const absl::Status& status, Job& job);
  bool IsDue(const Job& job, absl::Time now) const;
  void TickLocked(Job& job, absl::Time now);
  void LoadPastRuns(Job& job);
  void End(Job& job);
  std::vector<service::PublishedJob> Publish();
  void NoteEnded(const std::vector<std::shared_ptr<Job>>& jobs);
  bool WantsCheckpoint(const Job& job) const;
  void SaveCheckpoint(Job& job) const;
  void DropCheckpoint(const std::string& job_id) const;
  void Restore(store::RestoredJob restored, absl::Time now);
  void ContinueTrace(const store::RestoredJob& restored, Job& job) const;

  const JobTableOptions options_;
  Metrics* const metrics_;
  const std::shared_ptr<store::Disk> disk_;
  std::function<std::string(const std::string& job_id)> plan_of_;
  Shares shares_;                                  // outlives the jobs
  std::vector<std::shared_ptr<Job>> unpublished_;  // of the caller of TickDue()
  mutable std::mutex mutex_;                       // guards all below
  absl::flat_hash_map<std::string, std::shared_ptr<Job>> jobs_;
  KeptEnded kept_;  // by reporter, and those whose end was shown
  std::uint64_t opened_ = 0;
  // Thread-safe itself; last, so that its thread ends before all else does.
  Journal journal_;
};

}  // namespace tidemark::service
