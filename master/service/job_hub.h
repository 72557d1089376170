// What is published of all jobs, and who watches them.
//
// Everything that may be watched, whatever its kind, is entered under its id, published as often as
// there is a snapshot, and removed. The tables of a master do that; its services ask and watch.
//
// Thread-safe. Watchers are called one at a time, without the lock, and must not block: a slow
// reader keeps only the newest (job_cursor.h, job_list.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "master/service/job_list.h"
#include "tidemark/job.h"

namespace tidemark::service {

struct PublishedJob {
  std::shared_ptr<const Snapshot> newest;  // of sequence 0 if there is none yet
  // Tells this run of the job from every other of the same id, also where it was not named
  // (Snapshot::run_uid); the same after a recovery. Later ones are larger.
  std::uint64_t run = 0;
};

class JobWatcher {
 public:
  virtual ~JobWatcher() = default;
  // A job that it watches has a new snapshot: of the run that the hub knows, or of one that was
  // forgotten or followed by another meanwhile.
  virtual void Offer(const PublishedJob& /*job*/) {}
  // Everything published in this round was offered.
  virtual void OnRoundEnd() {}
  // The master shuts down.
  virtual void Close() = 0;
};

class JobHub {
 public:
  // `instance` as for JobList. Of watchers of one job, `watchers_max` are taken, and as many of all
  // jobs.
  JobHub(const std::string& instance, std::size_t watchers_max)
      : instance_(instance), watchers_max_(watchers_max), list_(instance) {}
  const std::string& instance() const { return instance_; }

  // A job, or another run of it, is known from now on. AlreadyExists: the id is that of something
  // else.
  absl::Status Enter(const PublishedJob& job);
  // A job that is not known, or another run of it, is told to its watchers only. REQUIRES: one
  // caller at a time.
  void Publish(const PublishedJob& job);
  void Remove(const std::string& job_id);
  // REQUIRES: the caller of Publish().
  void EndRound();

  // Errors: NotFound.
  absl::StatusOr<PublishedJob> Find(const std::string& job_id) const;
  // Whether its run is the newest of its id, and not forgotten.
  bool Knows(const PublishedJob& job) const;
  // A place in the list of all jobs, the newest run first, which stays the same as jobs come and
  // go.
  struct Place {
    std::uint64_t run = std::numeric_limits<std::uint64_t>::max();
    std::string job_id;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  // The first `count` jobs behind `before` that `shows` lets through. O(jobs).
  using Shows = std::function<bool(const Snapshot& newest)>;
  std::vector<PublishedJob> List(const Place& before, const Shows& shows, std::size_t count) const;

  // Of one job, known or not; of all with an empty id. ResourceExhausted over the limit;
  // Unavailable after CloseAll(). OnRoundEnd() is called of those that watch all jobs, or that want
  // it.
  absl::Status Subscribe(const std::string& job_id, std::shared_ptr<JobWatcher> watcher,
                         bool wants_round_end);
  void Unsubscribe(const std::string& job_id, const JobWatcher* watcher);
  void CloseAll();
  std::size_t watchers() const;

  // JobListCursor::Open() and Take() over all jobs; empty: there is nothing new.
  absl::StatusOr<JobListCursor> Open(JobFilter filter, View view, const std::string& resume_token,
                                     JobListCursor::MayRead may_read) const;
  std::optional<JobListCursor::Update> Take(
      JobListCursor& cursor, std::size_t most,
      std::uint64_t up_to = std::numeric_limits<std::uint64_t>::max()) const;

 private:
  using Watchers = std::vector<std::shared_ptr<JobWatcher>>;
  Watchers WatchersOf(const std::string& job_id) const;

  const std::string instance_;
  const std::size_t watchers_max_;
  mutable std::mutex mutex_;  // guards all below
  JobList list_;
  absl::flat_hash_map<std::string, PublishedJob> jobs_;
  std::set<Place> places_;
  bool closed_ = false;
  std::size_t count_ = 0;                                // of those of one job
  absl::flat_hash_map<std::string, Watchers> watchers_;  // by job; those of all under ""
  absl::flat_hash_set<std::shared_ptr<JobWatcher>> at_round_end_;
};

}  // namespace tidemark::service
