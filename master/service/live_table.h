// The table of what a master tracks: jobs (job_table.h) or workflows (workflow_table.h). An entry
// is a log, a newest snapshot and, while it runs, a place of its reporter. The rules of both:
//
//   Room         A table tracks a limited number. One more takes the place of one that has ended,
//                as kept_ended.h says; while none has, it is refused.
//   Shares       What runs, its log and its memory count for its reporter (shares.h). What would
//                exceed its share is refused; a place is given back when the end is published.
//   Durability   With a data directory nothing is told before it is durable: what was taken is
//                acknowledged when its record is (LiveEntry::mark), and a snapshot is published
//                when its tick is. What cannot be kept is not made. A table that is made anew from
//                the directory goes on where the one before was killed.
//   Order        The snapshots of an entry are published one by one, as they were made, and none
//                after the final one. What has ended is forgotten only after that was published.
//   Turns        What is not heavy waits for at most one heavy estimate a table (tick_round.h).
//
// Thread-safe: one lock for the table, one for each entry, which is taken first where both are
// held. Nothing that takes time is done under that of the table: no entry's lock is waited for and
// no file is touched, so entries do not wait for one another. Knows no clock: instants come in, of
// one that never goes back (clock.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "master/service/job_hub.h"
#include "master/service/journal.h"
#include "master/service/kept_ended.h"
#include "master/service/shares.h"
#include "master/service/spinning_mutex.h"
#include "master/service/tick_pace.h"
#include "master/store/log_record.h"
#include "master/store/name_space.h"
#include "tidemark/job.h"
#include "tidemark/job_monitor.h"

namespace tidemark::service {

// Who opened a job, or submitted a plan.
struct Sender {
  std::string name_space = store::kAllIds;  // which ids it might report
  std::string reporter;                     // for whom it is counted; empty: the name space
};

// What the tables of a master have in common.
struct TableContext {
  std::string data_dir;  // of the logs; empty: what is tracked is gone with its master
  // Told of everything that is tracked; may refuse an id. Null: none is. Outlives the tables.
  JobHub* hub = nullptr;
  TickPace pace;
  std::shared_ptr<store::Disk> disk;
  Shares shares;
  Journal journal;  // last, so that its thread ends before all else does
};

// What was restored from a data directory.
struct Recovery {
  std::size_t restored = 0;  // jobs, or workflows
  std::size_t resumed = 0;   // of them, those whose estimates a checkpoint spared
  std::uint64_t records = 0;
  // The latest instant given to a restored entry; no later call may be earlier.
  absl::Time latest = absl::InfinitePast();
  std::vector<std::string> damages;  // for an operator: what could not be read, and where it is now
};

// A tracked job or workflow.
struct LiveEntry {
  // Its snapshot at one tick, and what belongs to it.
  struct Running {
    std::shared_ptr<const Snapshot> snapshot;
    // JobMonitor::stages_left(); null of a workflow, and with a final snapshot.
    std::shared_ptr<const cost::StagesLeft> left;
  };

  // `first`: of sequence 0, or the last that was published before a restart.
  LiveEntry(std::shared_ptr<const Snapshot> first, absl::Time began_at, const Sender& sender,
            Shares& shares);
  virtual ~LiveEntry() = default;
  // Whether there is something to tell since the last tick. REQUIRES: mutex is held.
  virtual bool has_news() const = 0;
  // As in PublishedJob: which run of its id, also where it was not named.
  std::uint64_t run() const { return static_cast<std::uint64_t>(absl::ToUnixNanos(began_at)); }

  const std::string id;
  const absl::Time began_at;  // opened or submitted
  const std::string name_space;
  const std::string reporter;
  std::uint64_t number = 0;  // in the order of entering; set when the table takes it

  SpinningMutex mutex;  // guards all below
  Running newest;       // that may be shown
  Running ticked;       // that will be, when `mark` is durable
  Shares::Holding holding;
  store::LogKey key = store::NewLogKey();  // of the log
  std::shared_ptr<Journal::Log> log;       // null: not kept, or it has ended
  Journal::Mark mark;                      // of the last record
  absl::Time ticked_at = absl::InfinitePast();
  absl::Duration tick_cost;  // CPU time of the last tick
};

class LiveTable {
 public:
  virtual ~LiveTable() = default;
  LiveTable(const LiveTable&) = delete;
  LiveTable& operator=(const LiveTable&) = delete;

  // Ticks those that run and have news since pace.interval_min, or were not ticked for
  // pace.interval, heavy ones in turns, and returns the new snapshots. Waits until they are
  // durable; those of a disk that fails come with a later call. REQUIRES: one caller at a time.
  virtual std::vector<PublishedJob> TickDue(absl::Time now);

  // One that has ended; one that is not known is OK, and so is one that is not of `run_uid`, if
  // that is not empty. FailedPrecondition: it runs.
  absl::Status Forget(const std::string& id, const std::string& run_uid);

  // What was published last. Both null: not known.
  LiveEntry::Running GetRunning(const std::string& id) const;
  std::shared_ptr<const Snapshot> Newest(const std::string& id) const {
    return GetRunning(id).snapshot;
  }

  const std::shared_ptr<TableContext>& context() const { return context_; }
  const std::string& data_dir() const { return context_->data_dir; }
  Journal& journal() const { return context_->journal; }
  Shares& shares() const { return context_->shares; }

 protected:
  struct Kind {
    const char* noun;         // its plural names the limit
    std::size_t max;          // that are tracked
    Resource place;           // of one that runs
    const char* advice = "";  // to a caller that wants to forget one that runs
  };
  LiveTable(const Kind& kind, std::shared_ptr<TableContext> context)
      : kind_(kind), context_(std::move(context)) {}

  // Makes the next snapshot of an entry that runs: `ticked`, and its record. REQUIRES: its lock is
  // not held, here and in the next one; one caller at a time.
  virtual void Tick(const std::shared_ptr<LiveEntry>& entry, absl::Time now) = 0;
  // Its snapshot was published.
  virtual void OnPublished(const std::shared_ptr<LiveEntry>& /*entry*/) {}
  // The files of `id` in the data directory.
  virtual std::vector<std::string> FilesOf(const std::string& id) const = 0;

  std::shared_ptr<LiveEntry> Find(const std::string& id) const;
  // Gives its id to `entry`: null. Or the entry that somebody else has given it to, if that is not
  // `before`, a run that has ended, or null. ResourceExhausted: no room, share_percent.
  // AlreadyExists: the hub knows the id as that of something else. REQUIRES: entry.mutex is held.
  absl::StatusOr<std::shared_ptr<LiveEntry>> Enter(
      const std::shared_ptr<LiveEntry>& entry, const std::shared_ptr<LiveEntry>& before = nullptr);
  // Enters one of the data directory. `may_forget`: its end is durable. REQUIRES: called in the
  // order in which they began, before anything else is done.
  void Adopt(const std::shared_ptr<LiveEntry>& entry, std::uint64_t log_bytes, bool may_forget);
  // Forgets the oldest of the reporter that has ended; false if all run.
  bool MakeRoomOf(const std::string& reporter);

  // Nothing may be told of the entry before this is durable. REQUIRES: entry.mutex is held.
  void Append(LiveEntry& entry, absl::string_view record) const {
    entry.mark = {journal().Append(entry.log, record), entry.log};
  }
  // Publish() shows `ticked` of this one, too. REQUIRES: the caller of TickDue(), here and below.
  void PublishLater(std::shared_ptr<LiveEntry> entry) { unpublished_.push_back(std::move(entry)); }
  // Shows the snapshots whose ticks are durable.
  std::vector<PublishedJob> Publish();

 private:
  std::vector<std::shared_ptr<LiveEntry>> All() const;
  bool IsDue(const LiveEntry& entry, absl::Time now) const;
  absl::Status EnterHub(const LiveEntry& entry) const;
  // REQUIRES: mutex_ is held, here and below.
  std::shared_ptr<LiveEntry> Forget(const KeptEnded::One& ended);
  void MayForget(const LiveEntry& entry) { kept_.Add({entry.reporter, entry.number, entry.id}); }

  const Kind kind_;
  const std::shared_ptr<TableContext> context_;          // outlives the entries
  std::vector<std::shared_ptr<LiveEntry>> unpublished_;  // of the caller of TickDue()
  mutable std::mutex mutex_;                             // guards all below
  absl::flat_hash_map<std::string, std::shared_ptr<LiveEntry>> entries_;  // by id
  KeptEnded kept_;  // by reporter, and those whose end was published
  std::uint64_t entered_ = 0;
};

}  // namespace tidemark::service
