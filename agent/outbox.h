// A bounded, ordered queue of the events that wait to be sent or acknowledged. Each event is resent
// until the master acknowledges or rejects it.
//
//   Add() -> waiting -> Next() assigns a number -> unacknowledged -> Acknowledge() or Reject()
//               |                                    ^   |
//               v full: the least important,         `---' Rewind(): a new stream repeats it
//                 oldest event is dropped
//
// An event gets its sequence number when it is first passed to the transport. Events dropped before
// that leave no gap and are only counted (StreamEventsRequest.dropped_events). Events with a number
// are never dropped. All waiting events go into one batch. At most half of the bytes may be
// unacknowledged, so an unresponsive master leaves space for new events. An event too large for a
// message or for the outbox is dropped itself.
//
// Byte counts refer to memory, not to the wire. The batch in flight is a copy, of at most 1 MiB or
// one event. Thread-safe. Every operation is O(log n) in the number of events or better.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "agent/monotonic.h"
#include "tidemark/event.h"
#include "tidemark/v1/ingest_service.pb.h"

namespace tidemark::agent {

// The order in which events are dropped if the buffer is full. The first value is dropped first. A
// later profile or heartbeat replaces most of a lost one, but nothing replaces the opening of a job
// or stage.
enum class Importance : std::uint8_t { kProfile, kAttempt, kJob };

inline Importance ImportanceOf(const EventBody& body) {
  if (std::holds_alternative<JobOpened>(body) || std::holds_alternative<JobClosed>(body) ||
      std::holds_alternative<StageOpened>(body)) {
    return Importance::kJob;
  }
  const bool is_of_attempts =
      std::holds_alternative<AttemptChanged>(body) || std::holds_alternative<ExecutorOpened>(body);
  return is_of_attempts ? Importance::kAttempt : Importance::kProfile;
}

// Totals since the outbox was created.
struct OutboxCounts {
  std::uint64_t sent = 0;  // excluding resent events
  std::uint64_t acknowledged = 0;
  std::uint64_t rejected = 0;
  std::uint64_t dropped = 0;
  std::uint64_t points_dropped = 0;  // key groups in dropped profiles
};

class Outbox {
 public:
  // The number of an event, counting all events from 1.
  using Ordinal = std::uint64_t;

  Outbox(std::string source_id, std::string job_id, std::string run_uid, std::size_t bytes_max);

  const std::string& job_id() const { return job_id_; }

  // Queues an event created at `made_at_nanos` on the monotonic clock. If a reduce profile is
  // dropped, adds its number of key groups to `lost_points`, which may be null.
  void Add(EventBody body, std::int64_t made_at_nanos,
           std::shared_ptr<std::atomic<std::uint64_t>> lost_points = nullptr);
  // Counts an event that was dropped before it was added.
  void CountDropped();
  // Counts all unsent events as dropped. They stay in the outbox.
  void CountUnsentAsDropped();

  // Returns the next batch for the stream, stamped with `now`. Returns null if no events wait or if
  // too many are unacknowledged. Takes O(size of the batch) time.
  std::shared_ptr<const v1::StreamEventsRequest> Next(const ClockReading& now);
  // Starts a new stream: Next() opens the source and restarts with the oldest unacknowledged event.
  void Rewind();

  // Marks all events up to `sequence` as answered, of which `rejected` were rejected without being
  // named. If no event has that number yet, returns false and changes nothing.
  bool Acknowledge(std::uint64_t sequence, std::uint64_t rejected = 0);
  // Returns false if the event is not waiting for an answer.
  bool Reject(std::uint64_t sequence);

  bool empty() const;
  bool has_unacknowledged() const;
  // Returns true if so many events wait that callers should hold back other data.
  bool congested() const;
  std::size_t bytes() const;
  OutboxCounts counts() const;

  // Returns the time at which the oldest waiting event was created, on the monotonic clock, or
  // nullopt if no event waits.
  std::optional<std::int64_t> oldest_made_at_nanos() const;

  Ordinal newest() const;
  // Blocks until all events up to `newest` are answered or dropped. Returns false at the deadline.
  bool WaitUntilSettled(Ordinal newest, Instant deadline);

 private:
  struct Item {
    Ordinal ordinal = 0;
    std::uint64_t sequence = 0;  // 0 until a number is assigned
    v1::Event event;
    std::size_t bytes = 0;
    std::int64_t made_at_nanos = 0;
    std::optional<absl::Duration>
        running_elapsed;  // elapsed time of the running group at the creation of the event
    std::shared_ptr<std::atomic<std::uint64_t>> lost_points;
  };
  using Lane = std::deque<Item>;

  // The functions below require mutex_.
  bool MakeRoom(std::size_t bytes, Importance importance);
  void DropFrom(Lane& lane);
  void CountLoss(const Item& item);
  Lane* OldestLane();
  // Returns the next event of this stream, which is either resent or not numbered yet.
  const Item* NextUnsent();
  // Assigns a number to the event, unless it has one.
  const Item& Number(const Item& item);
  void Settle(Lane::iterator first, Lane::iterator last);
  Ordinal OldestOutstanding() const;
  std::shared_ptr<v1::StreamEventsRequest> NewBatch(const Item& first, const ClockReading& now);

  const std::string source_id_;
  const std::string job_id_;
  const std::string run_uid_;
  const std::size_t bytes_max_;

  mutable std::mutex mutex_;
  std::condition_variable settled_;
  // The members below are guarded by mutex_.
  std::array<Lane, 3> waiting_;  // by importance, each in order
  Lane unacknowledged_;          // by sequence
  std::uint64_t sequence_ = 0;   // the last assigned number
  std::uint64_t handed_ = 0;     // the last number sent on the current stream
  bool is_source_open_ = false;  // whether the source is open on the current stream
  std::size_t waiting_bytes_ = 0;
  std::size_t unacknowledged_bytes_ = 0;
  Ordinal newest_ = 0;
  OutboxCounts counts_;
};

}  // namespace tidemark::agent
