// The events that wait to be sent or acknowledged: bounded, in order, each sent until the master
// answers for it.
//
//   Add() -> waiting -> Next() numbers it -> unacknowledged -> Acknowledge() or Reject()
//              |                                   ^   |
//              v full: the least important,        `---' Rewind(): a new stream repeats it
//                oldest first, is dropped
//
// An event gets its sequence number when it is first handed to the transport: what is dropped
// before leaves no gap, only a count (StreamEventsRequest.dropped_events), and what has a number is
// never dropped. What waits at the same time goes in one batch. At most half of the bytes may be
// unacknowledged, so a master that does not answer leaves room for what is new. An event too large
// for a message, or for the outbox, is dropped itself, and nothing for it.
//
// Bytes are those the messages take in memory, not on the wire; the batch that is being written is
// a copy, of 1 MiB or one event at most. Thread-safe. Every operation is O(log n) in the number of
// events or better.
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

#include "agent/importance.h"
#include "agent/monotonic.h"
#include "tidemark/event.h"
#include "tidemark/v1/ingest_service.pb.h"

namespace tidemark::agent {

// Totals since the outbox was made.
struct OutboxCounts {
  std::uint64_t sent = 0;  // first time only
  std::uint64_t acknowledged = 0;
  std::uint64_t rejected = 0;
  std::uint64_t dropped = 0;
  std::uint64_t points_dropped = 0;  // key groups within dropped profiles
};

class Outbox {
 public:
  // Counts one more than it was given: the number of the newest event.
  using Ordinal = std::uint64_t;

  Outbox(std::string source_id, std::string job_id, std::string run_uid, std::size_t bytes_max);

  const std::string& job_id() const { return job_id_; }

  // Queues an event made at `made_at_nanos` on the monotonic clock. `lost_points` (may be null) is
  // told how many key groups a reduce profile held, should it be dropped.
  void Add(EventBody body, std::int64_t made_at_nanos,
           std::shared_ptr<std::atomic<std::uint64_t>> lost_points = nullptr);
  // An event was dropped before it came here.
  void CountDropped();
  // Nothing is sent any more: counts what was never sent as dropped. It stays, unanswered.
  void CountUnsentAsDropped();

  // The next batch for the stream, stamped with `now`; null when there is nothing to send or too
  // much is unacknowledged. O(size of the batch).
  std::shared_ptr<const v1::StreamEventsRequest> Next(const ClockReading& now);
  // A new stream begins: Next() opens the source and starts again with the oldest unacknowledged
  // event.
  void Rewind();

  // `rejected` of the events up to there were refused without being named. False if no event has
  // that number yet, and then changes nothing.
  bool Acknowledge(std::uint64_t sequence, std::uint64_t rejected = 0);
  // False if that event is not waiting for an answer.
  bool Reject(std::uint64_t sequence);

  bool empty() const;
  bool has_unacknowledged() const;
  // Whether so much waits that what can wait elsewhere should.
  bool congested() const;
  std::size_t bytes() const;
  OutboxCounts counts() const;

  // When the oldest of those that wait was made, on the monotonic clock; nothing: none waits.
  std::optional<std::int64_t> oldest_made_at_nanos() const;

  Ordinal newest() const;
  // Waits until everything up to `newest` was answered or dropped; whether it was in time.
  bool WaitUntilSettled(Ordinal newest, Instant deadline);

 private:
  struct Item {
    Ordinal ordinal = 0;
    std::uint64_t sequence = 0;  // 0: not handed out yet
    v1::Event event;
    std::size_t bytes = 0;
    std::int64_t made_at_nanos = 0;
    std::optional<absl::Duration> running_elapsed;  // of the running group when it was made
    std::shared_ptr<std::atomic<std::uint64_t>> lost_points;
  };
  using Lane = std::deque<Item>;

  // All of these: mutex_ is held.
  bool MakeRoom(std::size_t bytes, Importance importance);
  void DropFrom(Lane& lane);
  void CountLoss(const Item& item);
  Lane* OldestLane();
  // The next of this stream: one that is repeated, or has no number yet.
  const Item* NextUnsent();
  // Gives the next one its number, unless it has one.
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
  // The rest: guarded by mutex_.
  std::array<Lane, 3> waiting_;  // by importance, each in order
  Lane unacknowledged_;          // by sequence
  std::uint64_t sequence_ = 0;   // the last number given
  std::uint64_t handed_ = 0;     // the last number the current stream was given
  bool is_source_open_ = false;  // on the current stream
  std::size_t waiting_bytes_ = 0;
  std::size_t unacknowledged_bytes_ = 0;
  Ordinal newest_ = 0;
  OutboxCounts counts_;
};

}  // namespace tidemark::agent
