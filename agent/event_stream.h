// One call of IngestService.StreamEvents: takes envelopes from the outbox one after the other and
// hands the master's answers to outbox and settings.
//
// The call keeps its object alive until gRPC is done with it, so dropping the last reference of
// one's own never waits. Thread-safe; gRPC's threads run the On...() members.
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
  // Connects in the background; whether that works shows in status().
  static std::shared_ptr<EventStream> Open(const std::string& address,
                                           std::shared_ptr<Shared> shared);

  // Starts to write what the outbox holds, unless a write is under way that will go on with it.
  void Pump();
  // Says that nothing more comes, and lets the master answer what it has.
  void HalfClose();
  // Gives up; wait for ended() before the outbox may be rewound.
  void Cancel();

  bool connected() const;  // a first envelope went out
  bool answered() const;   // the master acknowledged something
  // When the master last answered, or when there was something to answer again, if that is later.
  Instant waiting_since() const;
  std::optional<grpc::Status> ended() const;
  bool WaitUntilEnded(Instant deadline);

 private:
  explicit EventStream(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  void Start(const std::string& address, std::shared_ptr<EventStream> self);
  void ReleaseIfClosed();
  void Take(const v1::StreamEventsResponse& response);

  void OnWriteDone(bool ok) override;
  void OnWritesDoneDone(bool ok) override;
  void OnReadDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

  const std::shared_ptr<Shared> shared_;
  std::unique_ptr<v1::IngestService::Stub> stub_;
  grpc::ClientContext context_;
  v1::StreamEventsResponse response_;  // belongs to the read under way
  std::shared_ptr<EventStream> self_;  // until OnDone()

  mutable std::mutex mutex_;
  std::condition_variable ended_;
  // The rest: guarded by mutex_.
  std::shared_ptr<const v1::StreamEventsRequest> writing_;
  bool half_closing_ = false;
  bool closed_ = false;    // no more writes may start
  bool released_ = false;  // our hold on the call is gone
  bool connected_ = false;
  bool answered_ = false;
  Instant waiting_since_ = std::chrono::steady_clock::now();
  std::optional<grpc::Status> status_;
};

}  // namespace tidemark::agent
