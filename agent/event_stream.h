// One call of IngestService.StreamEvents: takes batches from the outbox one after the other and
// hands the master's answers to outbox and settings.
//
// Must not be destroyed before ended() says that gRPC is done with it, nor by a thread of gRPC:
// with the last channel of the process goes the queue that those threads live on (gRPC 1.51
// aborts). Thread-safe; gRPC's threads run the On...() members.
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
  // Connects in the background; whether that works shows in ended(). `context` is fresh but for the
  // metadata of the call.
  EventStream(const std::shared_ptr<grpc::Channel>& channel,
              std::unique_ptr<grpc::ClientContext> context, std::shared_ptr<Shared> shared);

  // Starts to write what the outbox holds, unless a write is under way that will go on with it.
  void Pump();
  // Says that nothing more comes once the write under way is done, and lets the master end the
  // call.
  void HalfClose();
  // Gives up; wait for ended() before the outbox may be rewound.
  void Cancel();

  bool connected() const;  // a first batch went out
  bool answered() const;   // the master acknowledged something
  // When the master last answered, or when there was something to answer again, if that is later.
  Instant waiting_since() const;
  std::optional<grpc::Status> ended() const;
  bool WaitUntilEnded(Instant deadline);

 private:
  void HalfCloseIfWanted();
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
  v1::StreamEventsResponse response_;  // belongs to the read under way

  mutable std::mutex mutex_;
  std::condition_variable ended_;
  // The rest: guarded by mutex_.
  std::shared_ptr<const v1::StreamEventsRequest> writing_;
  bool half_close_wanted_ = false;
  bool half_closing_ = false;  // gRPC has yet to confirm it
  bool closed_ = false;        // no more writes may start
  bool released_ = false;      // our hold on the call is gone
  bool connected_ = false;
  bool answered_ = false;
  Instant waiting_since_ = std::chrono::steady_clock::now();
  std::optional<grpc::Status> status_;
};

}  // namespace tidemark::agent
