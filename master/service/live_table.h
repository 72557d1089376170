// The table of the jobs (job_table.h) or workflows (workflow_table.h) that a master tracks. An
// entry has a log, a newest snapshot and, while it runs, one of its reporter's slots. These rules
// apply to both tables:
//
//   Size         A table tracks a limited number of entries. A new entry replaces an ended entry,
//               as defined by EvictionOrder. While all entries run, new entries are rejected.
//   Shares       A running entry, its log and its memory count for its reporter (shares.h). An
//               entry that would exceed the share is rejected. The slot is free once the end is
//               published.
//   Durability   With a data directory, only durable data is acknowledged or published: an event
//               when its record is durable (LiveEntry::mark), a snapshot when its tick is. While
//               records cannot be written, no snapshots are made. A table restored from
//               the directory continues where the killed master stopped.
//   Order        The snapshots of an entry are published one at a time, in order, none after the
//               final snapshot. An ended entry is evicted only after its final snapshot was
//               published.
//   Turns        Heavy estimates take turns on a separate thread, and leave it idle for as long as
//               each took (TableContext::heavy). Other entries do not wait for them.
//
// Thread-safe. There is one lock for the table and one for each entry, which is taken first if both
// are held. Code under the table's lock neither waits for an entry's lock nor accesses a file, so
// entries do not wait for one another. An entry's lock is held while its estimate runs
// (EntryMutex). The last published snapshot has its own lock, so its readers wait for no estimate.
// The table reads no clock. Callers pass times of a clock that never decreases (clock.h).
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
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
#include "master/service/job_hub.h"
#include "master/service/journal.h"
#include "master/service/shares.h"
#include "master/store/log_record.h"
#include "master/store/name_space.h"
#include "tidemark/job.h"
#include "tidemark/job_monitor.h"
#include "tidemark/job_profile.h"
#include "transport/turn_queue.h"

namespace tidemark::service {

// The lock of a job or a workflow. Most holders keep it for microseconds. Some keep it while they
// compute an estimate, a list of tasks or a checkpoint.
//
// A thread that serves many jobs must not wait for a long holder of one job. LockUnlessLong() waits
// only for short holders. If a long holder has the lock, the caller's callback runs as soon as the
// lock is free.
//
// A thread that finds the lock taken spins for about 10 microseconds before it sleeps, since most
// waits are shorter than the time to wake a thread.
//
// Thread-safe.
class EntryMutex {
 public:
  EntryMutex() = default;
  EntryMutex(const EntryMutex&) = delete;
  EntryMutex& operator=(const EntryMutex&) = delete;

  // Both functions block until the lock is free. LockLong() announces that the caller will hold the
  // lock for long.
  void lock();
  void LockLong();
  // Calls all waiting callbacks on this thread, without holding the lock.
  void unlock();

  // Returns true with the lock held. If a long holder has the lock, returns false, and that
  // holder's unlock() then calls `when_free` once if it is not empty. LockLongUnlessLong() makes
  // the caller a long holder.
  bool LockUnlessLong(std::function<void()> when_free = nullptr) {
    return AcquireUnlessLong(Holder::kShort, std::move(when_free));
  }
  bool LockLongUnlessLong(std::function<void()> when_free) {
    return AcquireUnlessLong(Holder::kLong, std::move(when_free));
  }

 private:
  enum class Holder { kNone, kShort, kLong };

  bool TryAcquire(Holder holder);
  void Acquire(Holder holder);
  bool AcquireUnlessLong(Holder holder, std::function<void()> when_free);

  std::atomic<Holder> holder_ = Holder::kNone;  // changed only under mutex_
  std::mutex mutex_;                            // Guards all members below. Never held for long.
  std::condition_variable changed_;
  std::vector<std::function<void()>> when_free_;
};

// Holds the lock as a long holder until it is destroyed.
class LongLock {
 public:
  explicit LongLock(EntryMutex& mutex) : mutex_(mutex) { mutex_.LockLong(); }
  ~LongLock() { mutex_.unlock(); }
  LongLock(const LongLock&) = delete;
  LongLock& operator=(const LongLock&) = delete;

 private:
  EntryMutex& mutex_;
};

// Selects the ended entry that a new entry replaces: the oldest entry of the reporter that keeps
// the most. A reporter that keeps more than others thus replaces its own entries, and no reporter
// loses entries to one that keeps more.
//
// Not thread-safe. NextToEvict() takes O(reporters) time, other operations O(log n).
class EvictionOrder {
 public:
  struct One {
    std::string reporter;
    std::uint64_t number = 0;  // order of starts
    std::string id;
  };

  // These functions update the number of entries of a reporter, running or ended.
  void Enter(const std::string& reporter);
  void Leave(const std::string& reporter);

  // Adds an ended entry that may be evicted, or removes it.
  void Add(const One& one);
  void Remove(const std::string& reporter, std::uint64_t number);

  // Returns the entry to evict so that `reporter` can add another entry, or nullopt.
  std::optional<One> NextToEvict(const std::string& reporter) const;
  // Returns the oldest ended entry of `reporter`, or nullopt.
  std::optional<One> OldestOf(const std::string& reporter) const;

 private:
  struct Reporter {
    std::size_t kept = 0;
    std::map<std::uint64_t, std::string> ended;  // IDs by number
  };
  static One Oldest(const std::string& name, const Reporter& reporter) {
    return {name, reporter.ended.begin()->first, reporter.ended.begin()->second};
  }

  std::map<std::string, Reporter> reporters_;
};

// Intervals between the ticks of a job or workflow. Pure.
struct TickPace {
  absl::Duration interval = absl::Seconds(1);             // if nothing has changed
  absl::Duration interval_min = absl::Milliseconds(200);  // after changes

  // Returns true if a tick is due, `since` after the last one. A tick may be a tenth of a round
  // early, so that a pause that ends slightly early does not cost a whole round.
  bool IsDue(absl::Duration since, bool has_news) const;

  // Returns the pause after a round of ticks that took this time and processor time. Rounds start
  // interval_min apart, but use at most half of a processor.
  absl::Duration PauseAfter(absl::Duration took, absl::Duration cpu_time) const;
};

// A job that is due for an estimate.
struct DueJob {
  absl::Duration cost;  // processor time of the job's last estimate
  absl::Time ticked_at;
};

// Processor time above which an estimate is heavy. Chosen by hand as a quarter of the shortest
// tick interval.
inline constexpr absl::Duration kHeavyEstimate = absl::Milliseconds(50);

// Selects which of the due jobs are estimated in one round, so that no job waits for many others.
// Returns positions in `due`: all light estimates, cheapest first, then the heavy estimate that has
// waited longest. A light estimate therefore waits for at most one heavy estimate. O(n log n).
std::vector<std::size_t> TickRound(const std::vector<DueJob>& due);

// The client that opened a job or submitted a plan.
struct Sender {
  std::string name_space = store::kAllIds;  // IDs that the client may report
  // account of the client's resources; if empty, the name space is the account
  std::string reporter;
};

// State that the tables of a master share.
struct TableContext {
  std::string data_dir;  // directory of the logs; if empty, the state is lost with the master
  // Receives all entries, and may reject an ID. May be null. Must outlive the tables.
  JobHub* hub = nullptr;
  TickPace pace;
  std::shared_ptr<store::Disk> disk;
  Shares shares;
  Journal journal;  // declared last, since its thread uses all members above
  // One thread for heavy estimates and for checkpoints, which take turns by table. If null, the
  // caller of TickDue() computes them, as in tests.
  std::unique_ptr<transport::TurnQueue> heavy;
};

// The result of restoring a data directory.
struct Recovery {
  std::size_t restored = 0;  // number of jobs or workflows
  std::size_t resumed = 0;   // number restored from a checkpoint
  std::uint64_t records = 0;
  // The latest time passed to a restored entry. Later calls must not pass an earlier time.
  absl::Time latest = absl::InfinitePast();
  std::vector<std::string> damages;  // messages about unreadable data and its new location
};

// A tracked job or workflow.
struct LiveEntry {
  // The snapshot of one tick, and the remaining stages at that tick.
  struct Running {
    std::shared_ptr<const Snapshot> snapshot;
    // Result of JobMonitor::stages_left(). Null for a workflow and with a final snapshot.
    std::shared_ptr<const durations::RemainingStages> left;
    // Null unless the job has ended since the master started.
    std::shared_ptr<const JobProfile> profile;
  };

  // `first` has sequence 0, or is the last snapshot published before a restart.
  LiveEntry(std::shared_ptr<const Snapshot> first, absl::Time began_at, const Sender& sender,
            Shares& shares);
  virtual ~LiveEntry() = default;
  // Returns true if anything has changed since the last tick. REQUIRES: mutex is held.
  virtual bool has_news() const = 0;
  // Returns the estimated processor time of the next tick. REQUIRES: mutex is held.
  virtual absl::Duration ExpectedCost() const { return tick_cost; }
  // Returns the last published snapshot. Does not wait for an estimate.
  Running newest() const {
    const std::lock_guard lock(newest_mutex_);
    return newest_;
  }
  bool is_over() const { return newest().snapshot->is_final; }
  void SetNewest(Running newest) {
    const std::lock_guard lock(newest_mutex_);
    newest_ = std::move(newest);
  }
  // Returns the run, as in PublishedJob.
  std::uint64_t run() const { return static_cast<std::uint64_t>(absl::ToUnixNanos(began_at)); }

  const std::string id;
  const absl::Time began_at;  // time of opening or submission
  const std::string name_space;
  const std::string reporter;
  std::uint64_t number = 0;  // order of insertion; set by the table

  EntryMutex mutex;  // Guards all members below.
  Running ticked;    // becomes the newest snapshot when its record is durable
  Shares::Holding holding;
  store::LogKey key = store::NewLogKey();
  std::shared_ptr<Journal::Log> log;  // null if there is no data directory, and after the end
  Journal::Mark mark;                 // mark of the last record
  absl::Time ticked_at = absl::InfinitePast();
  absl::Duration tick_cost;  // processor time of the last tick

 private:
  mutable std::mutex newest_mutex_;  // Guards the members below; taken last.
  Running newest_;
};

class LiveTable {
 public:
  virtual ~LiveTable() = default;
  LiveTable(const LiveTable&) = delete;
  LiveTable& operator=(const LiveTable&) = delete;

  // Ticks the running entries that are due by TickPace, and returns the new snapshots. Blocks until
  // they are durable. A later call returns snapshots that a failing disk delayed, and heavy
  // snapshots after they are computed. Skips entries whose lock has a long holder. REQUIRES: only
  // one caller at a time.
  virtual std::vector<PublishedJob> TickDue(absl::Time now);

  // Removes an ended entry. If the entry is unknown, or if `run_uid` is not empty and differs,
  // returns OK and does nothing. Fails with FailedPrecondition while the entry runs.
  absl::Status Forget(const std::string& id, const std::string& run_uid);

  // Returns the newest published snapshot and its remaining stages, both null if the ID is
  // unknown. Does not wait for an estimate.
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
    const char* noun;         // The plural of this word is the name of the limit.
    std::size_t max;          // limit of tracked entries
    Resource place;           // resource that a running entry takes
    const char* advice = "";  // advice for a caller that tries to remove a running entry
  };
  LiveTable(const Kind& kind, std::shared_ptr<TableContext> context)
      : kind_(kind), context_(std::move(context)) {}

  // A snapshot that is published after its record is durable.
  struct Ticked {
    std::shared_ptr<LiveEntry> entry;
    LiveEntry::Running shown;
    Journal::Mark mark;
  };
  // Makes the next snapshot of a running entry, and its record. REQUIRES: the entry's lock is not
  // held; only one caller at a time for each entry.
  virtual Ticked Tick(const std::shared_ptr<LiveEntry>& entry, absl::Time now) = 0;
  // Called after the entry's snapshot has been published, without the entry's lock.
  virtual void OnPublished(const std::shared_ptr<LiveEntry>& /*entry*/) {}
  // Runs `work` on the thread for heavy work, which must exist.
  void AddHeavy(transport::TurnQueue::Work work);
  // Blocks until all heavy work is done. Destructors must call this function.
  void AwaitHeavy();
  // Returns the files of `id` in the data directory.
  virtual std::vector<std::string> FilesOf(const std::string& id) const = 0;

  std::shared_ptr<LiveEntry> Find(const std::string& id) const;
  // Returns all entries, newest first.
  std::vector<std::shared_ptr<LiveEntry>> All() const;
  // Enters `entry` under its ID. Replaces `before`, an ended run of that ID, unless it is null.
  // Returns null, or the entry that another thread inserted first. Fails with ResourceExhausted
  // (table size or share_percent), or with AlreadyExists if another kind of entry has the ID.
  // REQUIRES: entry.mutex is held.
  absl::StatusOr<std::shared_ptr<LiveEntry>> Enter(
      const std::shared_ptr<LiveEntry>& entry, const std::shared_ptr<LiveEntry>& before = nullptr);
  // Enters a restored entry. `may_forget` is true if the entry's end is durable. REQUIRES: called
  // in the order of the entries' starts, before any other call.
  void Adopt(const std::shared_ptr<LiveEntry>& entry, std::uint64_t log_bytes, bool may_forget);
  // Evicts the oldest ended entry of the reporter. Returns false if all its entries run.
  bool MakeRoomOf(const std::string& reporter);

  // Appends a record. Later snapshots of the entry are published after it is durable. REQUIRES:
  // entry.mutex is held.
  void Append(LiveEntry& entry, absl::string_view record) const {
    entry.mark = {journal().Append(entry.log, record), entry.log};
  }
  // Appends the record of the end. Afterwards, the entry has no log. REQUIRES: entry.mutex is held.
  void AppendEnd(LiveEntry& entry, absl::string_view record) const {
    entry.mark = {journal().Append(entry.log, record, /*is_last=*/true), entry.log};
    entry.log.reset();
  }
  // Returns the result of Tick(). REQUIRES: entry->mutex is held.
  static Ticked TickedOf(const std::shared_ptr<LiveEntry>& entry) {
    return {entry, entry->ticked, entry->mark};
  }
  // Adds a snapshot to the next Publish(). PublishLater() and Publish() must be called by the
  // caller of TickDue().
  void PublishLater(Ticked ticked) { unpublished_.push_back(std::move(ticked)); }
  // Publishes the snapshots whose ticks are durable.
  std::vector<PublishedJob> Publish();

 private:
  bool IsDue(const LiveEntry& entry, absl::Time now) const;
  // The entries to tick now, in the order of TickRound().
  struct Round {
    std::vector<std::shared_ptr<LiveEntry>> light;
    std::shared_ptr<LiveEntry> heavy;  // may be null
  };
  Round RoundAt(absl::Time now);
  // Returns true while a heavy estimate runs or the thread must stay idle. Collects a finished
  // estimate.
  bool IsHeavyBusy(absl::Time now);
  void StartHeavy(const std::shared_ptr<LiveEntry>& entry, absl::Time now);
  absl::Status EnterHub(const LiveEntry& entry) const;
  // This function and those below require mutex_.
  std::shared_ptr<LiveEntry> Forget(const EvictionOrder::One& ended);
  void AllowEviction(const LiveEntry& entry) {
    kept_.Add({entry.reporter, entry.number, entry.id});
  }

  const Kind kind_;
  const std::shared_ptr<TableContext> context_;  // outlives the entries
  // Used only by the caller of TickDue().
  std::vector<Ticked> unpublished_;
  absl::Time heavy_again_at_ = absl::InfinitePast();

  std::mutex heavy_mutex_;                 // Guards the members up to heavy_cost_.
  std::condition_variable heavy_changed_;  // signals finished work
  std::size_t heavy_works_ = 0;            // number of unfinished heavy works
  std::shared_ptr<LiveEntry> heavy_;       // entry whose estimate runs or has not been collected
  std::optional<Ticked> heavy_done_;       // the finished estimate of heavy_
  absl::Duration heavy_cost_;              // processor time of heavy_done_

  mutable std::mutex mutex_;  // Guards all members below.
  absl::flat_hash_map<std::string, std::shared_ptr<LiveEntry>> entries_;  // by ID
  EvictionOrder kept_;  // ended entries whose end has been published, by reporter
  std::uint64_t entered_ = 0;
};

}  // namespace tidemark::service
