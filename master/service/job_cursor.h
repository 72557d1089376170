// The next response for one watcher of a job, and the token with which the watcher can resume: the
// contract of WatchJob (docs/api.md) as a value.
//
// Keeps the newest snapshot only: a slow reader gets it and the number of snapshots that it missed.
// The last snapshot of a job is final, so the newest one never hides it. All holders share the
// snapshot. The cursor does not keep the snapshot that it sent last: a reader of deltas gets a
// delta while another object holds that snapshot (SentSnapshots), and a whole snapshot otherwise.
// Not thread-safe. O(1).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/wire/job_view.h"
#include "tidemark/job.h"

namespace tidemark::service {

// The position of a watcher.
struct ResumePoint {
  std::uint64_t sequence = 0;        // the last it has; 0: none
  std::optional<std::uint64_t> run;  // of the job it has it from; empty: it does not say

  friend bool operator==(const ResumePoint&, const ResumePoint&) = default;
};

// Opaque to watchers.
std::string EncodeResumeToken(const ResumePoint& point);
// InvalidArgument (FieldError): not a token of this service.
absl::StatusOr<ResumePoint> ParseResumeToken(const std::string& token);

class JobCursor {
 public:
  struct Options {
    View view = View::kFull;
    bool deltas = false;          // after the first response what has changed only
    absl::Duration interval_min;  // between two updates; the final one does not wait
  };
  struct Update {
    std::shared_ptr<const Snapshot> published;  // shared with other watchers: not in the view
    // The watcher's snapshot, if the watcher wants deltas and that snapshot still exists. A delta
    // from it may be sent instead.
    std::shared_ptr<const Snapshot> base;
    std::uint64_t skipped = 0;  // snapshots between the one before and this
    bool restarted = false;     // sequences before this one do not count any more
    std::string resume_token;   // for one who has this snapshot
  };

  JobCursor(const ResumePoint& from, const Options& options) : from_(from), options_(options) {}

  // The job is known: its newest snapshot, sequence 0 if it has none yet, and which run of the job
  // it is of. Before this, offers are ignored: `newest` must have been looked up after the watcher
  // was subscribed.
  void Begin(std::shared_ptr<const Snapshot> newest, std::uint64_t run);
  // A whole snapshot of a run was published; one that the watcher has, or that came before it, is
  // ignored, and so is one of another run: the first of the next, and the last of the one before.
  void Offer(std::shared_ptr<const Snapshot> snapshot, std::uint64_t run);

  // When there is an update: in the past if at once, InfiniteFuture() if only after another offer.
  absl::Time next_at() const;
  // REQUIRES: next_at() <= now.
  Update Take(absl::Time now);
  // Whether the watcher has the final snapshot.
  bool is_over() const { return over_; }
  const Options& options() const { return options_; }

 private:
  ResumePoint from_;  // of what was taken last
  Options options_;
  bool begun_ = false;
  bool tells_gaps_ = false;  // whether from_ is a snapshot that was sent
  bool restarted_ = false;
  bool over_ = false;
  absl::Time taken_at_ = absl::InfinitePast();
  std::weak_ptr<const Snapshot> sent_;  // with deltas
  std::shared_ptr<const Snapshot> next_;
};

}  // namespace tidemark::service
