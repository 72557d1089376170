// All jobs as those see them who watch the list: the contract of WatchJobs (docs/api.md) as values.
//
// JobList numbers every change among the jobs (1, 2, 3, ...) and keeps the newest of each job only.
// A JobListCursor is one watcher: it stands behind a number and takes what has changed since, so
// that a slow watcher costs nothing and gets each job at most once, as it is now.
//
//   JobList list("a1b2");
//   list.Publish(snapshot);
//   auto cursor = JobListCursor::Open(list, filter, View::kBasic, resume_token);
//   while (cursor->has_next(list)) Send(cursor->Take(list, 100));
//
// Promise: a watcher that starts with nothing, drops all it has when an update says `restarted`,
// puts the snapshots of each update in place of those it has, and takes out what was removed, has,
// whenever its cursor has no next update, exactly the jobs of the list that meet its filter, in its
// view. It may lose updates that were taken if it resumes with the token of the last one that it
// has.
//
// Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "proto/wire/job_view.h"
#include "tidemark/job.h"

namespace tidemark::service {

// Memory: O(jobs + removed_max).
class JobList {
 public:
  // `instance` tells this list from that of a master before it: letters and digits. Of jobs that
  // are removed, the last `removed_max` are remembered; who resumes from before that starts again.
  explicit JobList(std::string instance, std::size_t removed_max = 10'000);

  // A whole snapshot, the newest of its job. O(log jobs).
  void Publish(std::shared_ptr<const Snapshot> snapshot);
  // A job that is not listed is ignored. O(log jobs).
  void Remove(const std::string& job_id);

 private:
  friend class JobListCursor;
  struct Entry {
    std::uint64_t change = 0;
    std::shared_ptr<const Snapshot> snapshot;  // null: removed
  };

  void Note(const std::string& job_id, std::shared_ptr<const Snapshot> snapshot);

  const std::string instance_;
  const std::size_t removed_max_;
  std::uint64_t newest_ = 0;     // number of the last change
  std::uint64_t forgotten_ = 0;  // removals up to this one are not remembered
  absl::flat_hash_map<std::string, Entry> jobs_;
  std::map<std::uint64_t, std::string> changes_;  // the last of each job
  std::map<std::uint64_t, std::string> removed_;  // those of them that are removals
};

class JobListCursor {
 public:
  struct Update {
    std::vector<std::shared_ptr<const Snapshot>> snapshots;  // whole; see view()
    std::vector<std::string> removed_job_ids;
    std::string resume_token;
    std::uint64_t newest = 0;  // the list's newest change then
    bool synced = false;       // the watcher has all jobs as they were when it began, or later
    bool restarted = false;    // what the watcher has does not count
  };

  using MayRead = std::function<bool(const std::string& job_id)>;

  // For a watcher that has dealt with the update of `resume_token`; empty: it begins.
  // InvalidArgument: not a token of this service. Of a job that `may_read` does not let through
  // nothing is said, not even that it is gone; empty: all may be read. O(jobs).
  static absl::StatusOr<JobListCursor> Open(const JobList& list, JobFilter filter, View view,
                                            const std::string& resume_token, MayRead may_read = {});

  // Whether there is an update; it may hold no more than a token and that the watcher is synced.
  // There is always a first one.
  bool has_next(const JobList& list,
                std::uint64_t up_to = std::numeric_limits<std::uint64_t>::max()) const {
    return is_new_ || position_ < std::min(list.newest_, up_to);
  }
  // Returns about `most` jobs at most, of the changes up to the given number, so that several
  // updates in one response name a job once. O(most log jobs).
  Update Take(const JobList& list, std::size_t most,
              std::uint64_t up_to = std::numeric_limits<std::uint64_t>::max());
  View view() const { return view_; }

 private:
  JobListCursor(JobFilter filter, View view, MayRead may_read)
      : filter_(std::move(filter)), view_(view), may_read_(std::move(may_read)) {}
  bool Shows(const Snapshot* snapshot) const;

  JobFilter filter_;
  View view_;
  MayRead may_read_;
  std::uint64_t position_ = 0;  // of the list's changes, what was taken
  std::uint64_t begun_at_ = 0;  // the list's newest change when the watcher began
  bool is_new_ = true;          // nothing was taken
  bool restarted_ = false;
  absl::flat_hash_set<std::string> has_;  // jobs that the watcher has, or may have
};

}  // namespace tidemark::service
