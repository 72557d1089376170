// What one watcher of a job or a workflow is sent next, and what it can say later to go on from
// there: the watch contract of docs/api.md as a value.
//
// Keeps the newest snapshot only: a slow reader gets it and the number of those it missed. The
// last snapshot of a job is final, so the newest one never hides it. Not thread-safe. O(size of a
// snapshot).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "tidemark/snapshot.h"
#include "tidemark/workflow.h"

namespace tidemark::service {

// How far a watcher came.
struct ResumePoint {
  std::uint64_t sequence = 0;        // the last it has; 0: none
  std::optional<std::uint64_t> run;  // of the job it has it from; empty: it does not say

  friend bool operator==(const ResumePoint&, const ResumePoint&) = default;
};

// Opaque to watchers.
std::string EncodeResumeToken(const ResumePoint& point);
// InvalidArgument: not a token of ours.
absl::StatusOr<ResumePoint> ParseResumeToken(const std::string& token);

template <typename S>
class BasicWatchCursor {
 public:
  struct Update {
    S snapshot;
    std::uint64_t skipped = 0;  // snapshots between the one before and this
    bool restarted = false;     // sequences before this one do not count any more
    std::string resume_token;   // for one who has this snapshot
  };

  explicit BasicWatchCursor(const ResumePoint& from) : from_(from) {}

  // The job is known: its newest snapshot, and which run of the job it is of. Before this, offers
  // are ignored: `newest` must have been looked up after the watcher was subscribed.
  void Begin(const S& newest, std::uint64_t run);
  // A snapshot was published; one that the watcher has, or that came before it, is ignored, and so
  // is one of another run: the first of the next, and the last of the one before.
  void Offer(const S& snapshot);

  bool has_next() const { return next_.has_value(); }
  // REQUIRES: has_next().
  Update Take();
  // Whether the watcher has the final snapshot.
  bool is_over() const { return over_; }

 private:
  ResumePoint from_;  // of what was taken last
  bool begun_ = false;
  std::string run_uid_;      // that it began with
  bool tells_gaps_ = false;  // whether from_ is a snapshot that was sent
  bool restarted_ = false;
  bool over_ = false;
  std::optional<S> next_;
};

using WatchCursor = BasicWatchCursor<Snapshot>;

}  // namespace tidemark::service
