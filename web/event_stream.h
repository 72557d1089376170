// A stream of gRPC as server-sent events.
//
// The next response is asked for when the one before it is on its way to the browser, so that a
// slow reader holds one, and the master makes up the newest for him (docs/api.md). The id of an
// event is the master's resume token, which browsers send back by themselves.
//
// Events are made by threads of the page, in turns, since gRPC's few threads also serve the agents.
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
  std::string head;                         // JSON ...
  std::shared_ptr<const std::string> rest;  // ... and its end, which readers may share
};

// Who makes events, and which are on their way to readers.
struct EventWorkers {
  transport::WritesInFlight in_flight;
  transport::TurnQueue turns{2, transport::kNice};  // last, so that its threads end first
};

// Keeps itself alive from Start() on until the call has ended.
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
  // Makes an event of a response, one at a time. Nullopt: the reader must resume.
  using EventOf = std::function<std::optional<StreamEvent>(const grpc::ByteBuffer& response)>;

  // Events of one key are made one at a time. After `workers` have gone the stream ends.
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
      self->MakeEvent(*workers);
    });
    if (!is_added) EndCall();
  }
  void OnDone(const grpc::Status& status) override {
    if (has_begun_) {
      exchange_->Write(status.ok()
                           ? "event: end\ndata: {}\n\n"
                           : fmt::format("event: problem\ndata: {}\n\n", ProblemJson(status)));
      exchange_->EndStream();
    } else if (status.ok()) {  // nothing is new, and nothing will be
      Begin();
      exchange_->Write("event: end\ndata: {}\n\n");
      exchange_->EndStream();
    } else {
      exchange_->Answer(ProblemAnswer(status));
    }
    const std::shared_ptr<EventStream> last = std::move(self_);
  }
  // The browser connects again and resumes.
  void CutWrite() override { exchange_->Abort(); }

 private:
  EventStream(std::shared_ptr<Exchange> exchange, std::unique_ptr<grpc::ClientContext> context,
              const std::shared_ptr<EventWorkers>& workers, std::string key, EventOf event_of)
      : exchange_(std::move(exchange)),
        context_(std::move(context)),
        workers_(workers),
        key_(std::move(key)),
        event_of_(std::move(event_of)) {}

  void MakeEvent(EventWorkers& workers) {
    std::optional<StreamEvent> event = event_of_(response_);
    response_.Clear();
    if (!event) {
      // A stream that ends without a word is resumed.
      if (has_begun_) exchange_->EndStream();
      return EndCall();
    }
    std::string head;
    if (!std::exchange(has_begun_, true)) {
      head = "retry: 1000\n\n";  // of the browser's pauses between attempts, ms
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

  // The thread of the server may call when all else is over.
  void Begin() {
    const std::weak_ptr<EventStream> weak = self_;
    exchange_->BeginStream({.on_drained =
                                [weak] {
                                  if (const auto stream = weak.lock()) stream->Drained();
                                },
                            .on_gone =
                                [weak] {
                                  if (const auto stream = weak.lock()) stream->Gone();
                                }});
  }
  void Drained() {
    EndWrite();
    const std::lock_guard lock(mutex_);
    if (!is_busy_) ReadOn();
  }
  void Gone() {
    EndWrite();
    context_->TryCancel();
    const std::lock_guard lock(mutex_);
    is_gone_ = true;
    if (!is_busy_) ReadOn();  // which fails, and ends the call
  }
  void EndWrite() {
    if (const std::shared_ptr<EventWorkers> workers = workers_.lock()) workers->in_flight.End(this);
  }
  // Instead of making an event.
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
  const EventOf event_of_;  // one call at a time
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  bool has_begun_ = false;
  std::mutex mutex_;      // guards the two
  bool is_busy_ = false;  // a response is being read, or an event is made of it
  bool is_gone_ = false;
  std::shared_ptr<EventStream> self_;
};

}  // namespace tidemark::web
