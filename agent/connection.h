// Keeps a stream to the master open while events wait. Connects at the first event, limits a
// connection attempt to two seconds, backs off from 100 ms to 30 s, and resends unacknowledged
// events.
//
// Belongs to the background thread. Only Close() blocks.
#pragma once

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "agent/monotonic.h"
#include "agent/shared.h"
#include "tidemark/v1/ingest_service.grpc.pb.h"

namespace tidemark::agent {

// One call of IngestService.StreamEvents. Sends the batches of the outbox in order and passes the
// master's responses to the outbox and the settings.
//
// Must be destroyed after ended() has a value, and not on a gRPC thread: the last channel of the
// process owns the queue of gRPC's threads (gRPC 1.51 aborts). Thread-safe; gRPC's threads run the
// On...() members.
class EventStream final
    : private grpc::ClientBidiReactor<v1::StreamEventsRequest, v1::StreamEventsResponse> {
 public:
  // Connects in the background. If this fails, ended() returns the error. `context` contains only
  // the metadata of the call.
  EventStream(const std::shared_ptr<grpc::Channel>& channel,
              std::unique_ptr<grpc::ClientContext> context, std::shared_ptr<Shared> shared);

  // Starts to write the contents of the outbox, unless a write is already in progress.
  void Pump();
  // Announces that no events follow the write in progress, so that the master ends the call.
  void HalfClose();
  // Cancels the call. The outbox may be rewound after ended().
  void Cancel();

  bool connected() const;  // true after the first batch was sent
  bool answered() const;   // true after the master has acknowledged an event
  // Returns the time of the last response, or the time since which events have waited for one, if
  // that is later.
  Instant waiting_since() const;
  std::optional<grpc::Status> ended() const;
  bool WaitUntilEnded(Instant deadline);

 private:
  void HalfCloseIfRequested();
  void ReleaseIfClosed();
  void EndWrites();
  void BreakOff();
  void Take(const v1::StreamEventsResponse& response);
  void NotUnderstood(const v1::Rejection& rejection);

  void OnWriteDone(bool ok) override;
  void OnWritesDoneDone(bool ok) override;
  void OnReadDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

  const std::shared_ptr<Shared> shared_;
  std::unique_ptr<v1::IngestService::Stub> stub_;
  const std::unique_ptr<grpc::ClientContext> context_;
  v1::StreamEventsResponse response_;  // belongs to the read in progress

  mutable std::mutex mutex_;
  std::condition_variable ended_;
  // The members below are guarded by mutex_.
  std::shared_ptr<const v1::StreamEventsRequest> writing_;
  bool half_close_wanted_ = false;
  bool half_closing_ = false;  // true until gRPC confirms the half-close
  bool closed_ = false;        // no further writes may start
  bool released_ = false;      // whether the hold on the call has been released
  bool connected_ = false;
  bool answered_ = false;
  Instant waiting_since_ = std::chrono::steady_clock::now();
  std::optional<grpc::Status> status_;
};

// Computes the pauses between attempts. Each pause is twice as long as the previous one, then
// randomly shortened by up to a half so that the tasks of a cluster do not reconnect at the same
// time.
class Backoff {
 public:
  explicit Backoff(std::uint64_t seed) : random_(seed) {}
  absl::Duration Next();
  void Reset() { next_ = kFirst; }

 private:
  static constexpr absl::Duration kFirst = absl::Milliseconds(100);
  static constexpr absl::Duration kMax = absl::Seconds(30);
  absl::Duration next_ = kFirst;
  std::mt19937_64 random_;
};

// Time within which a cancelled call must end. Afterwards it is leaked.
inline constexpr std::chrono::milliseconds kCancelTimeout{50};

class Connection {
 public:
  Connection(std::string address, ClientSecurity security, std::shared_ptr<Shared> shared);

  // Performs the actions that are due. Returns the time of the next call, unless another event
  // occurs first.
  Instant Poll(Instant now);
  // Makes the next Poll() skip the backoff, for a last attempt.
  void SkipBackoff() { retry_at_ = Instant::min(); }
  // Cancels the call without blocking. Close() must follow.
  void GiveUp();
  // Ends the stream, gracefully if time permits, and releases it in any case. Must be the last
  // call.
  void Close(Instant deadline);

 private:
  void Open(Instant now);
  Instant PollStream(Instant now);
  void NoteEnd(const grpc::Status& status, Instant now);

  void NoteNoChannel(const absl::Status& status, Instant now);

  const std::string address_;
  const ClientSecurity security_;
  const std::shared_ptr<Shared> shared_;
  // Each attempt has a new channel, so that the backoff of gRPC does not apply. The last channel
  // stays until the next one replaces it; see EventStream.
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<EventStream> stream_;
  bool given_up_ = false;  // the stream was cancelled and will end soon
  Instant connect_deadline_{};
  Instant retry_at_ = Instant::min();
  Backoff backoff_;
};

}  // namespace tidemark::agent
