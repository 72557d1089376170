// The next response for one watcher of a job, and the token with which the watcher can resume.
// Implements the contract of WatchJob (docs/api.md) as a value.
//
// Keeps only the newest snapshot. A slow reader gets it and the number of snapshots that it
// missed. The last snapshot of a job is final, so the newest one never hides it. All holders share
// the snapshot. The cursor does not keep the snapshot that it sent last. While another object
// holds that snapshot (SentSnapshots), a reader of deltas gets a delta. Otherwise it gets a whole
// snapshot.
//
// Not thread-safe. O(1).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/wire/job_codec.h"
#include "tidemark/job.h"

namespace tidemark::service {

// The position of a watcher.
struct ResumePoint {
  std::uint64_t sequence = 0;        // sequence of the last received snapshot; 0 if none
  std::optional<std::uint64_t> run;  // run of that snapshot; empty if unspecified

  friend bool operator==(const ResumePoint&, const ResumePoint&) = default;
};

// Opaque to watchers.
std::string EncodeResumeToken(const ResumePoint& point);
// Fails with InvalidArgument (FieldError) for a token that this service did not issue.
absl::StatusOr<ResumePoint> ParseResumeToken(const std::string& token);

class JobCursor {
 public:
  struct Options {
    View view = View::kFull;
    bool deltas = false;          // later responses hold only changes
    absl::Duration interval_min;  // between two updates; the final one does not wait
  };
  struct Update {
    std::shared_ptr<const Snapshot> published;  // whole and shared with other watchers
    // The watcher's snapshot, if the watcher requested deltas and that snapshot still exists. A
    // delta from it may be sent instead.
    std::shared_ptr<const Snapshot> base;
    std::uint64_t skipped = 0;  // snapshots between the previous update and this one
    bool restarted = false;     // earlier sequence numbers are no longer valid
    std::string resume_token;   // for a watcher that has received this update
  };

  JobCursor(const ResumePoint& from, const Options& options) : from_(from), options_(options) {}

  // Starts with the newest snapshot of the job and its run. The snapshot's sequence is 0 before
  // the first tick. The cursor ignores earlier offers, so the caller must subscribe the watcher
  // before it reads `newest`.
  void Begin(std::shared_ptr<const Snapshot> newest, std::uint64_t run);
  // Offers a whole published snapshot. The cursor ignores it if the watcher has it or a later one,
  // or if it belongs to another run.
  void Offer(std::shared_ptr<const Snapshot> snapshot, std::uint64_t run);

  // Returns the time at which an update is due. Returns InfinitePast() if it is due now, and
  // InfiniteFuture() if it needs another offer.
  absl::Time next_at() const;
  // Returns the next update. REQUIRES: next_at() <= now.
  Update Next(absl::Time now);
  // Returns true if the watcher has the final snapshot.
  bool is_over() const { return over_; }
  const Options& options() const { return options_; }

 private:
  ResumePoint from_;  // position after the last update
  Options options_;
  bool begun_ = false;
  bool counts_gaps_ = false;  // true if from_ is a snapshot that was sent
  bool restarted_ = false;
  bool over_ = false;
  absl::Time taken_at_ = absl::InfinitePast();
  std::weak_ptr<const Snapshot> sent_;  // set only for a reader of deltas
  std::shared_ptr<const Snapshot> next_;
};

}  // namespace tidemark::service
