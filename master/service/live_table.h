// The table of the jobs (job_table.h) or workflows (workflow_table.h) that a master tracks. An
// entry has a log, a newest snapshot and, while it runs, a place of its reporter. Rules of both:
//
//   Room         A table tracks a limited number of entries. A new entry replaces one that has
//                ended, as kept_ended.h defines; while none has ended, it is refused.
//   Shares       A running entry, its log and its memory count for its reporter (shares.h). An
//                entry that would exceed the share is refused; a place is free once the end is
//                published.
//   Durability   With a data directory, only durable data is acknowledged or published: an event
//                when its record is durable (LiveEntry::mark), a snapshot when its tick is. While
//                records cannot be kept, none are made. A table that is restored from the directory
//                continues where the previous one was killed.
//   Order        The snapshots of an entry are published one by one, as they were made, and none
//                after the final one. An ended entry is evicted only after that was published.
//   Turns        Heavy estimates take turns on a separate thread, and leave it idle for as long as
//                they took (TableContext::heavy). Other entries do not wait for them.
//
// Thread-safe: one lock for the table and one for each entry, which is taken first where both are
// held. Code under the table's lock is fast: it neither waits for an entry's lock nor touches a
// file, so entries do not wait for one another. An entry's lock is held for as long as its estimate
// takes (entry_mutex.h). The last published snapshot has its own lock, so its readers wait for no
// estimate. The table reads no clock: callers pass instants of a clock that never goes back
// (clock.h).
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "master/service/entry_mutex.h"
#include "master/service/job_hub.h"
#include "master/service/journal.h"
#include "master/service/kept_ended.h"
#include "master/service/shares.h"
#include "master/service/tick_pace.h"
#include "master/store/log_record.h"
#include "master/store/name_space.h"
#include "tidemark/job.h"
#include "tidemark/job_monitor.h"
#include "transport/turn_queue.h"

namespace tidemark::service {

// Who opened a job, or submitted a plan.
struct Sender {
  std::string name_space = store::kAllIds;  // which ids it might report
  std::string reporter;                     // for whom it is counted; empty: the name space
};

// State that the tables of a master share.
struct TableContext {
  std::string data_dir;  // of the logs; empty: what is tracked is gone with its master
  // Receives all entries; may refuse an id. Null if there is no hub. Outlives the tables.
  JobHub* hub = nullptr;
  TickPace pace;
  std::shared_ptr<store::Disk> disk;
  Shares shares;
  Journal journal;  // outlived by all above, which its thread uses
  // One thread for heavy estimates and for checkpoints, by table. If null, the caller of TickDue()
  // makes them, as in tests.
  std::unique_ptr<transport::TurnQueue> heavy;
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
  // Returns whether there is anything to publish since the last tick. REQUIRES: mutex is held.
  virtual bool has_news() const = 0;
  // CPU time that the next tick will take, as far as that is known. REQUIRES: mutex is held.
  virtual absl::Duration ExpectedCost() const { return tick_cost; }
  // Returns the snapshot that was published last. Does not wait for an estimate.
  Running newest() const {
    const std::lock_guard lock(newest_mutex_);
    return newest_;
  }
  bool is_over() const { return newest().snapshot->is_final; }
  void SetNewest(Running newest) {
    const std::lock_guard lock(newest_mutex_);
    newest_ = std::move(newest);
  }
  // As in PublishedJob: which run of its id, also where it was not named.
  std::uint64_t run() const { return static_cast<std::uint64_t>(absl::ToUnixNanos(began_at)); }

  const std::string id;
  const absl::Time began_at;  // opened or submitted
  const std::string name_space;
  const std::string reporter;
  std::uint64_t number = 0;  // in the order of entering; set when the table takes it

  EntryMutex mutex;  // guards all below
  Running ticked;    // that will be the newest, when its record is durable
  Shares::Holding holding;
  store::LogKey key = store::NewLogKey();  // of the log
  std::shared_ptr<Journal::Log> log;       // null: not kept, or it has ended
  Journal::Mark mark;                      // of the last record
  absl::Time ticked_at = absl::InfinitePast();
  absl::Duration tick_cost;  // CPU time of the last tick

 private:
  mutable std::mutex newest_mutex_;  // guards the rest; taken last
  Running newest_;
};

class LiveTable {
 public:
  virtual ~LiveTable() = default;
  LiveTable(const LiveTable&) = delete;
  LiveTable& operator=(const LiveTable&) = delete;

  // Ticks the running entries that have news since pace.interval_min, or were not ticked for
  // pace.interval, and returns the new snapshots. Waits until they are durable. Snapshots that a
  // failing disk delays come with a later call, as do heavy ones once they are made. Leaves out
  // entries whose lock is held for long. REQUIRES: one caller at a time.
  virtual std::vector<PublishedJob> TickDue(absl::Time now);

  // One that has ended; one that is not known is OK, and so is one that is not of `run_uid`, if
  // that is not empty. FailedPrecondition: it runs.
  absl::Status Forget(const std::string& id, const std::string& run_uid);

  // Returns the last published snapshots, both null if the id is unknown. Does not wait for an
  // estimate.
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

  // A snapshot that is shown once its record is durable.
  struct Ticked {
    std::shared_ptr<LiveEntry> entry;
    LiveEntry::Running shown;
    Journal::Mark mark;
  };
  // Makes the next snapshot of an entry that runs, and its record. REQUIRES: the lock of the entry
  // is not held, here and in the next one; one caller at a time for an entry.
  virtual Ticked Tick(const std::shared_ptr<LiveEntry>& entry, absl::Time now) = 0;
  // Its snapshot was published.
  virtual void OnPublished(const std::shared_ptr<LiveEntry>& /*entry*/) {}
  // Has `work` done by the thread for heavy work. REQUIRES: there is one.
  void AddHeavy(transport::TurnQueue::Work work);
  // Waits for all such work. To be called by destructors.
  void AwaitHeavy();
  // The files of `id` in the data directory.
  virtual std::vector<std::string> FilesOf(const std::string& id) const = 0;

  std::shared_ptr<LiveEntry> Find(const std::string& id) const;
  // Returns all entries, the newest first.
  std::vector<std::shared_ptr<LiveEntry>> All() const;
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

  // Appends a record. Nothing may be published of the entry before it is durable. REQUIRES:
  // entry.mutex is held.
  void Append(LiveEntry& entry, absl::string_view record) const {
    entry.mark = {journal().Append(entry.log, record), entry.log};
  }
  // Appends the record of the end, after which the entry has no log. REQUIRES: entry.mutex is held.
  void AppendEnd(LiveEntry& entry, absl::string_view record) const {
    entry.mark = {journal().Append(entry.log, record, /*is_last=*/true), entry.log};
    entry.log.reset();
  }
  // Returns the result of Tick(). REQUIRES: entry->mutex is held.
  static Ticked TickedOf(const std::shared_ptr<LiveEntry>& entry) {
    return {entry, entry->ticked, entry->mark};
  }
  // Publish() shows this one, too. REQUIRES: the caller of TickDue(), here and below.
  void PublishLater(Ticked ticked) { unpublished_.push_back(std::move(ticked)); }
  // Shows the snapshots whose ticks are durable.
  std::vector<PublishedJob> Publish();

 private:
  bool IsDue(const LiveEntry& entry, absl::Time now) const;
  // The entries to tick now, in the order of TickRound().
  struct Round {
    std::vector<std::shared_ptr<LiveEntry>> light;
    std::shared_ptr<LiveEntry> heavy;  // may be null
  };
  Round RoundAt(absl::Time now);
  // Returns whether a heavy estimate is being made, or the thread has to stay idle. Collects the
  // estimate if it is done.
  bool IsHeavyBusy(absl::Time now);
  void StartHeavy(const std::shared_ptr<LiveEntry>& entry, absl::Time now);
  absl::Status EnterHub(const LiveEntry& entry) const;
  // REQUIRES: mutex_ is held, here and below.
  std::shared_ptr<LiveEntry> Forget(const KeptEnded::One& ended);
  void MayForget(const LiveEntry& entry) { kept_.Add({entry.reporter, entry.number, entry.id}); }

  const Kind kind_;
  const std::shared_ptr<TableContext> context_;  // outlives the entries
  // Used only by the caller of TickDue().
  std::vector<Ticked> unpublished_;
  absl::Time heavy_again_at_ = absl::InfinitePast();

  std::mutex heavy_mutex_;                 // guards the next five
  std::condition_variable heavy_changed_;  // work was done
  std::size_t heavy_works_ = 0;            // that are not done
  std::shared_ptr<LiveEntry> heavy_;       // whose estimate is being made, or is not taken up yet
  std::optional<Ticked> heavy_done_;       // of it
  absl::Duration heavy_cost_;              // CPU time of that

  mutable std::mutex mutex_;                                              // guards all below
  absl::flat_hash_map<std::string, std::shared_ptr<LiveEntry>> entries_;  // by id
  KeptEnded kept_;  // by reporter, and those whose end was published
  std::uint64_t entered_ = 0;
};

}  // namespace tidemark::service
