// Converts a stream of gRPC to server-sent events.
//
// The next response is requested when the previous one has been sent to the browser. A slow reader
// therefore holds one response and then gets the newest (docs/api.md). The id of an event is the
// master's resume token, which browsers send when they reconnect.
//
// Threads of the page encode the events, since the few threads of gRPC also serve the agents.
#pragma once

#include <fmt/format.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "transport/turn_queue.h"
#include "transport/writes_in_flight.h"
#include "web/http_exchange.h"
#include "web/json.h"

namespace tidemark::web {

struct StreamEvent {
  std::string id;
  std::string head;                         // the beginning of the JSON
  std::shared_ptr<const std::string> rest;  // the rest, which readers may share
};

// The threads that encode events, and the events in flight to readers.
struct EventWorkers {
  transport::WritesInFlight in_flight;
  transport::TurnQueue turns{2,
                             transport::kNice};  // the last member, so that its threads end first
};

// Lives from Start() until the call has ended and the reader has its response or has disconnected.
class EventStream final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                          public transport::WritesInFlight::Writer,
                          public std::enable_shared_from_this<EventStream> {
 public:
  // A call that streams responses.
  struct Call {
    std::shared_ptr<grpc::Channel> channel;
    const char* method = "";
    std::string request;  // serialized
    std::unique_ptr<grpc::ClientContext> context;
  };
  // Encodes a response. Returns nullopt if the reader must resume. Calls do not overlap.
  using EventOf = std::function<std::optional<StreamEvent>(const grpc::ByteBuffer& response)>;

  // Events of one key are encoded one at a time. The stream ends when `workers` is destroyed.
  static void Start(const std::shared_ptr<Exchange>& exchange, Call call,
                    const std::shared_ptr<EventWorkers>& workers, std::string key,
                    EventOf event_of) {
    const std::shared_ptr<EventStream> self(new EventStream(
        exchange, std::move(call.context), workers, std::move(key), std::move(event_of)));
    self->self_ = self;
    grpc::GenericStub stub(call.channel);
    stub.PrepareBidiStreamingCall(self->context_.get(), call.method, grpc::StubOptions(),
                                  self.get());
    const grpc::Slice request(call.request);
    self->request_ = grpc::ByteBuffer(&request, 1);
    self->StartWriteLast(&self->request_, grpc::WriteOptions());
    self->AddHold();
    self->is_busy_ = true;
    self->StartRead(&self->response_);
    self->StartCall();
  }

  void OnReadDone(bool is_there) override {
    if (!is_there) {
      RemoveHold();
      return;
    }
    const std::shared_ptr<EventWorkers> workers = workers_.lock();
    const bool is_added = workers != nullptr && workers->turns.Add(key_, [self = shared_from_this(),
                                                                          workers = workers.get()] {
      self->EncodeEvent(*workers);
    });
    if (!is_added) EndCall();
  }
  void OnDone(const grpc::Status& status) override {
    if (has_begun_) {
      exchange_->Write(status.ok()
                           ? "event: end\ndata: {}\n\n"
                           : fmt::format("event: problem\ndata: {}\n\n", ProblemJson(status)));
      exchange_->EndStream();
    } else if (status.ok()) {  // the reader has the last update
      Begin();
      exchange_->Write("event: end\ndata: {}\n\n");
      exchange_->EndStream();
    } else {
      exchange_->Answer(ProblemAnswer(status));
    }
    const std::shared_ptr<EventStream> last = std::move(self_);
  }
  // Closes the connection; the browser reconnects and resumes.
  void CutWrite() override { exchange_->Abort(); }

 private:
  EventStream(std::shared_ptr<Exchange> exchange, std::unique_ptr<grpc::ClientContext> context,
              const std::shared_ptr<EventWorkers>& workers, std::string key, EventOf event_of)
      : exchange_(std::move(exchange)),
        context_(std::move(context)),
        workers_(workers),
        key_(std::move(key)),
        event_of_(std::move(event_of)) {}

  void EncodeEvent(EventWorkers& workers) {
    std::optional<StreamEvent> event = event_of_(response_);
    response_.Clear();
    if (!event) {
      // Browsers resume a stream that ends without an event.
      if (has_begun_) exchange_->EndStream();
      return EndCall();
    }
    std::string head;
    if (!std::exchange(has_begun_, true)) {
      head = "retry: 1000\n\n";  // the browser's pause between attempts in ms
      Begin();
    }
    head += fmt::format("id: {}\nevent: update\ndata: {}", event->id, event->head);
    workers.in_flight.Begin(shared_from_this(), key_,
                            {.data = event->rest.get(), .size = event->rest->size()});
    {
      const std::lock_guard lock(mutex_);
      is_busy_ = false;
    }
    static const auto* const kEnd =
        new std::shared_ptr<const std::string>(std::make_shared<const std::string>("\n\n"));
    exchange_->Write(std::vector<std::shared_ptr<const std::string>>{
        std::make_shared<const std::string>(std::move(head)), std::move(event->rest), *kEnd});
    const std::lock_guard lock(mutex_);
    if (!is_gone_) return;
    workers.in_flight.End(this);
    if (!is_busy_) ReadOn();
  }

  // The callbacks keep this object alive until the reader disconnects, so that the response in
  // flight is counted until then. The exchange drops them after on_gone.
  void Begin() {
    exchange_->BeginStream({.on_drained = [self = shared_from_this()] { self->Drained(); },
                            .on_gone = [self = shared_from_this()] { self->Gone(); }});
  }
  void Drained() {
    EndWrite();
    const std::lock_guard lock(mutex_);
    if (!is_busy_) ReadOn();
  }
  // Sets is_gone_ before it ends the write. EncodeEvent() ends a write that it begins later.
  void Gone() {
    context_->TryCancel();
    {
      const std::lock_guard lock(mutex_);
      is_gone_ = true;
      if (!is_busy_) ReadOn();  // fails and ends the call
    }
    EndWrite();
  }
  void EndWrite() {
    if (const std::shared_ptr<EventWorkers> workers = workers_.lock()) workers->in_flight.End(this);
  }
  // Ends the call instead of encoding an event.
  void EndCall() {
    context_->TryCancel();
    const std::lock_guard lock(mutex_);
    ReadOn();
  }
  void ReadOn() {
    is_busy_ = true;
    StartRead(&response_);
  }

  const std::shared_ptr<Exchange> exchange_;
  const std::unique_ptr<grpc::ClientContext> context_;
  const std::weak_ptr<EventWorkers> workers_;
  const std::string key_;
  const EventOf event_of_;  // calls do not overlap
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  bool has_begun_ = false;
  std::mutex mutex_;      // guards the next two
  bool is_busy_ = false;  // a response is being read or encoded, or the call has ended
  bool is_gone_ = false;
  std::shared_ptr<EventStream> self_;
};

}  // namespace tidemark::web
