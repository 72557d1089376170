// Streams to watchers over gRPC. Each stream has a cursor and at most one response in progress.
// Streams hold responses as bytes, since messages that wait for a slow reader would take several
// times as much memory.
//
// Two threads compute all responses, taking jobs in turn (turn_queue.h). Neither the tick thread
// nor the gRPC threads compute responses. Watchers of a large job therefore delay neither its tick
// nor the events, snapshots and watchers of other jobs. A stream that waits for its turn gets the
// snapshot that is newest at its turn.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/service/clock.h"
#include "master/service/encoded_snapshots.h"
#include "master/service/gate.h"
#include "master/service/job_hub.h"
#include "master/service/metrics.h"
#include "proto/wire/job_codec.h"
#include "tidemark/job.h"
#include "transport/turn_queue.h"
#include "transport/writes_in_flight.h"

namespace tidemark::service {

// The position of a watcher.
struct ResumePoint {
  std::uint64_t sequence = 0;        // sequence of the last received snapshot; 0 if none
  std::optional<std::uint64_t> run;  // run of that snapshot; empty if unspecified

  friend bool operator==(const ResumePoint&, const ResumePoint&) = default;
};

// Returns a token that is opaque to watchers.
std::string EncodeResumeToken(const ResumePoint& point);
// Fails with InvalidArgument (FieldError) for a token that this service did not issue.
absl::StatusOr<ResumePoint> ParseResumeToken(const std::string& token);

// The next response for one watcher of a job, and the token with which the watcher can resume.
// Implements the contract of WatchJob (docs/api.md) as a value.
//
// Keeps only the newest snapshot. A slow reader gets this snapshot and the number of missed
// snapshots. The final snapshot of a job is its last, so no newer snapshot replaces it. All holders
// share the snapshot. The cursor does not keep the snapshot that it sent last. While another object
// holds that snapshot (SentSnapshots), a reader of deltas gets a delta. Otherwise the reader gets a
// whole snapshot.
//
// Not thread-safe. O(1).
class JobCursor {
 public:
  struct Options {
    View view = View::kFull;
    bool deltas = false;          // later responses contain only changes
    absl::Duration interval_min;  // between two updates; the final update does not wait
  };
  struct Update {
    std::shared_ptr<const Snapshot> published;  // whole and shared with other watchers
    // The watcher's snapshot, if the watcher requested deltas and that snapshot still exists. A
    // delta from this snapshot may be sent instead.
    std::shared_ptr<const Snapshot> base;
    std::uint64_t skipped = 0;  // snapshots between the previous update and this one
    bool restarted = false;     // true if earlier sequence numbers are no longer valid
    std::string resume_token;   // for a watcher that has received this update
  };

  JobCursor(const ResumePoint& from, const Options& options) : from_(from), options_(options) {}

  // Starts with the newest snapshot of the job and its run. The snapshot's sequence is 0 before the
  // first tick. The cursor ignores earlier offers, so the caller must subscribe the watcher before
  // reading `newest`.
  void Begin(std::shared_ptr<const Snapshot> newest, std::uint64_t run);
  // Offers a whole published snapshot. The cursor ignores the snapshot if the watcher already has
  // it or a later one, or if it belongs to another run.
  void Offer(std::shared_ptr<const Snapshot> snapshot, std::uint64_t run);

  // Returns the time at which an update is due: InfinitePast() if it is due now, and
  // InfiniteFuture() if another offer must arrive first.
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

// Size at which a response with many jobs ends, in bytes. Chosen by hand as a quarter of the 4 MiB
// that gRPC clients accept by default.
inline constexpr std::size_t kResponseBytes = std::size_t{1} << 20;

// State for making responses. All streams share it.
struct Deliveries {
  EncodedSnapshots encoded{};
  SentSnapshots sent{};
  transport::WritesInFlight in_flight{};
  // By job. Declared last, so that its threads end before the other members are destroyed.
  transport::TurnQueue turns{2, transport::kNice};
};

// State that all streams share and that outlives them.
struct Publishing {
  JobHub& hub;
  Deliveries& deliveries;
  const Clock& clock;
  Gate& gate;
  Metrics& metrics;
};

// The stream of WatchJob or WatchJobs, with serialized request and responses. A rejected stream
// ends immediately.
using ByteStream = grpc::ServerWriteReactor<grpc::ByteBuffer>;
ByteStream* WatchJob(const Publishing& publishing, grpc::CallbackServerContext& context,
                     const grpc::ByteBuffer& untrusted);
ByteStream* WatchJobs(const Publishing& publishing, grpc::CallbackServerContext& context,
                      const grpc::ByteBuffer& untrusted);

}  // namespace tidemark::service
