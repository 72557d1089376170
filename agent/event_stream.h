// One call of IngestService.StreamEvents. Sends the batches of the outbox in order and passes the
// master's responses to the outbox and the settings.
//
// Must be destroyed after ended() returns true, and not by a thread of gRPC. The last channel of
// the process owns the queue of those threads (gRPC 1.51 aborts). Thread-safe; gRPC's threads run
// the On...() members.
#pragma once

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "agent/monotonic.h"
#include "agent/shared.h"
#include "tidemark/v1/ingest_service.grpc.pb.h"

namespace tidemark::agent {

class EventStream final
    : private grpc::ClientBidiReactor<v1::StreamEventsRequest, v1::StreamEventsResponse> {
 public:
  // Connects in the background; ended() shows a failure. `context` contains only the metadata of
  // the call.
  EventStream(const std::shared_ptr<grpc::Channel>& channel,
              std::unique_ptr<grpc::ClientContext> context, std::shared_ptr<Shared> shared);

  // Starts to write the contents of the outbox, unless a write in progress will continue with them.
  void Pump();
  // Announces that no events follow the write in progress, so that the master ends the call.
  void HalfClose();
  // Cancels the call. The outbox may be rewound after ended().
  void Cancel();

  bool connected() const;  // true after the first batch was sent
  bool answered() const;   // true after the master acknowledged an event
  // Returns the time of the last response, or the time since which events wait for one, if that is
  // later.
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
  bool half_closing_ = false;  // gRPC has not confirmed it yet
  bool closed_ = false;        // no further writes may start
  bool released_ = false;      // the hold on the call is released
  bool connected_ = false;
  bool answered_ = false;
  Instant waiting_since_ = std::chrono::steady_clock::now();
  std::optional<grpc::Status> status_;
};

}  // namespace tidemark::agent
