// A stream of gRPC as server-sent events.
//
// The next response is asked for when the one before it is on its way to the browser, so that a
// slow reader holds one, and the master makes up the newest for him (docs/api.md). The id of an
// event is the master's resume token, which browsers send back by themselves.
#pragma once

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "web/http_exchange.h"
#include "web/json.h"

namespace tidemark::web {

struct StreamEvent {
  std::string id;
  std::string json;
};

// Owns itself from Start() on until the call has ended.
template <typename Response>
class EventStream final : public grpc::ClientReadReactor<Response> {
 public:
  // `begin` starts the call; `event_of` makes an event of each response, one at a time.
  static void Start(std::shared_ptr<Exchange> exchange,
                    std::unique_ptr<grpc::ClientContext> context,
                    const std::function<void(grpc::ClientContext&, EventStream&)>& begin,
                    std::function<StreamEvent(const Response&)> event_of) {
    auto self = std::shared_ptr<EventStream>(
        new EventStream(std::move(exchange), std::move(context), std::move(event_of)));
    self->self_ = self;
    begin(*self->context_, *self);
    self->AddHold();
    self->is_reading_ = true;
    self->StartRead(&self->response_);
    self->StartCall();
  }

  void OnReadDone(bool is_there) override {
    if (!is_there) {
      this->RemoveHold();
      return;
    }
    const StreamEvent event = event_of_(response_);
    std::string bytes;
    if (!std::exchange(has_begun_, true)) {
      bytes = "retry: 1000\n\n";  // of the browser's pauses between attempts, ms
      Begin();
    }
    bytes += fmt::format("id: {}\nevent: update\ndata: {}\n\n", event.id, event.json);
    {
      const std::lock_guard lock(mutex_);
      is_reading_ = false;
    }
    exchange_->Write(std::move(bytes));
    const std::lock_guard lock(mutex_);
    if (is_gone_ && !is_reading_) ReadOn();
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

 private:
  EventStream(std::shared_ptr<Exchange> exchange, std::unique_ptr<grpc::ClientContext> context,
              std::function<StreamEvent(const Response&)> event_of)
      : exchange_(std::move(exchange)),
        context_(std::move(context)),
        event_of_(std::move(event_of)) {}

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
    const std::lock_guard lock(mutex_);
    if (!is_reading_) ReadOn();
  }
  void Gone() {
    context_->TryCancel();
    const std::lock_guard lock(mutex_);
    is_gone_ = true;
    if (!is_reading_) ReadOn();  // which fails, and ends the call
  }
  void ReadOn() {
    is_reading_ = true;
    this->StartRead(&response_);
  }

  const std::shared_ptr<Exchange> exchange_;
  const std::unique_ptr<grpc::ClientContext> context_;
  const std::function<StreamEvent(const Response&)> event_of_;  // one call at a time
  Response response_;
  bool has_begun_ = false;
  std::mutex mutex_;  // guards the two
  bool is_reading_ = false;
  bool is_gone_ = false;
  std::shared_ptr<EventStream> self_;
};

}  // namespace tidemark::web
