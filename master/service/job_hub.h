// The published snapshots of all jobs, and their watchers.
//
// The tables of a master enter each job or workflow under its ID, publish its snapshots and remove
// it. The services read and watch these entries.
//
// Thread-safe. Watchers are called one at a time, without the lock, and must not block. A slow
// reader keeps only the newest snapshot (JobCursor, JobList).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/wire/job_codec.h"
#include "tidemark/job.h"

namespace tidemark::service {

// JobList and JobListCursor implement the contract of WatchJobs (docs/api.md) as values.
//
// JobList numbers all changes of jobs (1, 2, 3, ...) and keeps only the newest change of each job.
// A JobListCursor is the position of one watcher among these numbers. The cursor reads the changes
// after its position, so that a slow watcher costs nothing and gets each job at most once, in its
// newest state.
//
//   JobList list("a1b2");
//   list.Publish(snapshot);
//   auto cursor = JobListCursor::Open(list, filter, View::kBasic, resume_token);
//   while (cursor->has_next(list)) Send(cursor->Next(list, 100));
//
// A watcher starts without jobs. If an update has `restarted`, the watcher drops its jobs. It
// replaces jobs by the snapshots of each update, and deletes removed jobs. Whenever its cursor has
// no next update, the watcher has exactly the jobs of the list that match its filter, in its view.
// To resume, the watcher passes the token of the last update that it has.
//
// Not thread-safe.

// Memory: O(jobs + removed_max).
class JobList {
 public:
  // `instance` consists of letters and digits and distinguishes this list from that of an earlier
  // master. The list keeps the IDs of the last `removed_max` removed jobs. A watcher that resumes
  // from an earlier change restarts.
  explicit JobList(std::string instance, std::size_t removed_max = 10'000);

  // Adds a whole snapshot, which is the newest of its job. O(log jobs).
  void Publish(std::shared_ptr<const Snapshot> snapshot);
  // Removes a job. Ignores an unknown job. O(log jobs).
  void Remove(const std::string& job_id);

 private:
  friend class JobListCursor;
  struct Entry {
    std::uint64_t change = 0;
    std::shared_ptr<const Snapshot> snapshot;  // null if removed
  };

  void Note(const std::string& job_id, std::shared_ptr<const Snapshot> snapshot);

  const std::string instance_;
  const std::size_t removed_max_;
  std::uint64_t newest_ = 0;     // number of the last change
  std::uint64_t forgotten_ = 0;  // removals up to this number are no longer kept
  absl::flat_hash_map<std::string, Entry> jobs_;
  std::map<std::uint64_t, std::string> changes_;  // the last change of each job
  std::map<std::uint64_t, std::string> removed_;  // removals among changes_
};

class JobListCursor {
 public:
  struct Update {
    std::vector<std::shared_ptr<const Snapshot>> snapshots;  // whole snapshots; see view()
    std::vector<std::string> removed_job_ids;
    std::string resume_token;
    std::uint64_t newest = 0;  // the newest change of the list when the update was made
    bool synced = false;       // true if the watcher has all jobs as of its start or later
    bool restarted = false;    // true if the watcher must drop its jobs
  };

  using MayRead = std::function<bool(const std::string& job_id)>;

  // Opens a cursor for a watcher that has processed the update with `resume_token`, or for a new
  // watcher if the token is empty. Fails with InvalidArgument for a token of another service.
  // Updates never mention jobs that `may_read` rejects, not even their removal; an empty `may_read`
  // accepts all jobs. O(jobs).
  static absl::StatusOr<JobListCursor> Open(const JobList& list, JobFilter filter, View view,
                                            const std::string& resume_token, MayRead may_read = {});

  // Returns true if there is an update, which may contain only a token and `synced`. A new cursor
  // always has one.
  bool has_next(const JobList& list,
                std::uint64_t up_to = std::numeric_limits<std::uint64_t>::max()) const {
    return is_new_ || position_ < std::min(list.newest_, up_to);
  }
  // Returns at most about `most` jobs from the changes up to `up_to`. Several updates with the same
  // `up_to` name each job only once. O(most log jobs).
  Update Next(const JobList& list, std::size_t most,
              std::uint64_t up_to = std::numeric_limits<std::uint64_t>::max());
  View view() const { return view_; }

 private:
  JobListCursor(JobFilter filter, View view, MayRead may_read)
      : filter_(std::move(filter)), view_(view), may_read_(std::move(may_read)) {}
  bool Shows(const Snapshot* snapshot) const;

  JobFilter filter_;
  View view_;
  MayRead may_read_;
  std::uint64_t position_ = 0;  // number of the last change that was read
  std::uint64_t begun_at_ = 0;  // newest change of the list when the watcher began
  bool is_new_ = true;          // true if no update has been read
  bool restarted_ = false;
  absl::flat_hash_set<std::string> has_;  // jobs that the watcher has or may have
};

struct PublishedJob {
  std::shared_ptr<const Snapshot> newest;  // sequence 0 before the first tick
  // Distinguishes this run from all other runs of the ID, even if Snapshot::run_uid is unknown.
  // Does not change after a recovery, and is larger for later runs.
  std::uint64_t run = 0;
};

class JobWatcher {
 public:
  virtual ~JobWatcher() = default;
  // Receives a new snapshot of a watched job. The snapshot may belong to an older run, or to a run
  // that has been removed in the meantime.
  virtual void Offer(const PublishedJob& /*job*/) {}
  // Called after all snapshots of a round have been offered.
  virtual void OnRoundEnd() {}
  // Called when the master shuts down.
  virtual void Close() = 0;
};

class JobHub {
 public:
  // See JobList for `instance`. `watchers_max` limits the watchers of single jobs, and separately
  // the watchers of all jobs.
  JobHub(const std::string& instance, std::size_t watchers_max)
      : instance_(instance), watchers_max_(watchers_max), list_(instance) {}
  const std::string& instance() const { return instance_; }

  // Adds a job or a new run of it. Fails with AlreadyExists if another kind of entry has the ID.
  absl::Status Enter(const PublishedJob& job);
  // Publishes a snapshot. If the job or run has not been entered, only its watchers receive the
  // snapshot. REQUIRES: only one caller at a time.
  void Publish(const PublishedJob& job);
  void Remove(const std::string& job_id);
  // Ends a round of snapshots. REQUIRES: called by the caller of Publish().
  void EndRound();

  // Returns the newest run of a job, or NotFound.
  absl::StatusOr<PublishedJob> Find(const std::string& job_id) const;
  // Returns true if the run is the newest of its ID and has not been removed.
  bool IsCurrent(const PublishedJob& job) const;
  // A position in the list of all jobs, newest run first. It stays valid when jobs are added or
  // removed.
  struct Place {
    std::uint64_t run = std::numeric_limits<std::uint64_t>::max();
    std::string job_id;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  // Returns the first `count` jobs after `before` that `shows` accepts. O(jobs).
  using Shows = std::function<bool(const Snapshot& newest)>;
  std::vector<PublishedJob> List(const Place& before, const Shows& shows, std::size_t count) const;

  // Subscribes to one job, which may be unknown, or to all jobs if `job_id` is empty. Fails with
  // ResourceExhausted beyond the limit, and with Unavailable after CloseAll(). OnRoundEnd() is
  // called for watchers of all jobs, and on request for watchers of one job.
  absl::Status Subscribe(const std::string& job_id, std::shared_ptr<JobWatcher> watcher,
                         bool wants_round_end);
  void Unsubscribe(const std::string& job_id, const JobWatcher* watcher);
  void CloseAll();
  std::size_t watchers() const;

  // These functions call JobListCursor::Open() and Next() on the list of all jobs. NextUpdate()
  // returns nullopt if nothing has changed.
  absl::StatusOr<JobListCursor> Open(JobFilter filter, View view, const std::string& resume_token,
                                     JobListCursor::MayRead may_read) const;
  std::optional<JobListCursor::Update> NextUpdate(
      JobListCursor& cursor, std::size_t most,
      std::uint64_t up_to = std::numeric_limits<std::uint64_t>::max()) const;

 private:
  using Watchers = std::vector<std::shared_ptr<JobWatcher>>;
  Watchers WatchersOf(const std::string& job_id) const;

  const std::string instance_;
  const std::size_t watchers_max_;
  mutable std::mutex mutex_;  // Guards all members below.
  JobList list_;
  absl::flat_hash_map<std::string, PublishedJob> jobs_;
  std::set<Place> places_;
  bool closed_ = false;
  std::size_t count_ = 0;  // watchers of single jobs
  // by job; watchers of all jobs are under ""
  absl::flat_hash_map<std::string, Watchers> watchers_;
  absl::flat_hash_set<std::shared_ptr<JobWatcher>> at_round_end_;
};

}  // namespace tidemark::service
