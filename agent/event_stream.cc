#include "agent/event_stream.h"

#include <fmt/format.h>

#include <utility>

#include "agent/guard.h"

namespace tidemark::agent {

EventStream::EventStream(const std::shared_ptr<grpc::Channel>& channel,
                         std::unique_ptr<grpc::ClientContext> context,
                         std::shared_ptr<Shared> shared)
    : shared_(std::move(shared)),
      stub_(v1::IngestService::NewStub(channel)),
      context_(std::move(context)) {
  shared_->outbox.Rewind();
  stub_->async()->StreamEvents(context_.get(), this);
  AddHold();  // writes start outside of reactions too
  StartRead(&response_);
  StartCall();
  // From here on gRPC knows us: we may not go before it says so.
  if (!Guarded(*shared_, [this] { Pump(); })) BreakOff();
}

void EventStream::Pump() {
  const v1::StreamEventsRequest* request = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || writing_ != nullptr) return;
    if (!shared_->outbox.has_unacknowledged()) waiting_since_ = std::chrono::steady_clock::now();
    writing_ = shared_->outbox.Next(ClockReading::Now());
    request = writing_.get();
  }
  // Outside the lock: nothing says that a reaction may not run on this thread.
  if (request != nullptr) StartWrite(request);
}

void EventStream::HalfClose() {
  {
    const std::lock_guard lock(mutex_);
    half_close_wanted_ = true;
  }
  HalfCloseIfWanted();
}

void EventStream::HalfCloseIfWanted() {
  {
    const std::lock_guard lock(mutex_);
    if (!half_close_wanted_ || closed_ || writing_ != nullptr) return;
    closed_ = true;
    half_closing_ = true;
  }
  StartWritesDone();
}

void EventStream::Cancel() { context_->TryCancel(); }

void EventStream::ReleaseIfClosed() {
  {
    const std::lock_guard lock(mutex_);
    if (!closed_ || writing_ != nullptr || half_closing_ || released_) return;
    released_ = true;
  }
  RemoveHold();
}

void EventStream::OnWriteDone(bool ok) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    writing_.reset();
    if (!ok) closed_ = true;
    if (ok && !connected_) first = connected_ = true;
  }
  if (first) shared_->transport.ConnectionMade();
  HalfCloseIfWanted();
  ReleaseIfClosed();
  if (!Guarded(*shared_, [this] { Pump(); })) BreakOff();
}

void EventStream::OnWritesDoneDone(bool /*ok*/) {
  {
    const std::lock_guard lock(mutex_);
    half_closing_ = false;
  }
  ReleaseIfClosed();
}

void EventStream::OnReadDone(bool ok) {
  if (!ok) return EndWrites();
  const bool done = Guarded(*shared_, [this] {
    Take(response_);
    response_.Clear();
    StartRead(&response_);
    Pump();  // there may be room for more unacknowledged events now
  });
  if (!done) BreakOff();
}

// No more writes start; gRPC may be done with the call.
void EventStream::EndWrites() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  ReleaseIfClosed();
}

// After something was thrown.
void EventStream::BreakOff() {
  Cancel();
  EndWrites();
}

void EventStream::Take(const v1::StreamEventsResponse& response) {
  // We open one source, as 0. Whatever else a master sends, the worst it can do is not to be
  // believed.
  if (response.handle() != 0) return;
  // First, so that it holds for everyone who waited for the acknowledgement.
  if (response.has_control()) {
    shared_->settings.Apply(response.control());
    shared_->inbox.Wake();
  }
  if (!response.stalled().empty()) {
    shared_->trouble.Stalled(response.stalled());
    shared_->inbox.Wake();
  }
  for (const v1::Rejection& rejection : response.rejections()) {
    // Before any waiter for the answer continues.
    const bool is_of_job = rejection.code() == static_cast<int>(grpc::StatusCode::ALREADY_EXISTS);
    if (is_of_job) shared_->transport.JobRefused(rejection.reason());
    if (rejection.sequence() == 0) {
      NotUnderstood(rejection);
      continue;
    }
    if (!shared_->outbox.Reject(rejection.sequence())) continue;
    shared_->transport.Error(fmt::format("event {} was refused: {} (code {})", rejection.sequence(),
                                         rejection.reason(), rejection.code()),
                             rejection.reason());
    // Of the job the engine is told by AgentStats::job_refusal.
    if (!is_of_job) shared_->trouble.Refused(rejection.code(), rejection.reason());
    shared_->inbox.Wake();
  }
  if (const std::uint64_t unnamed = response.unnamed_rejections(); unnamed > 0) {
    shared_->transport.Error(fmt::format("{} more events were refused", unnamed),
                             "it refused more reports than it gives reasons for");
  }
  const bool believed =
      shared_->outbox.Acknowledge(response.accepted_sequence(), response.unnamed_rejections());
  if (!believed) {
    shared_->transport.Error(fmt::format("the master acknowledged event {}, which was never sent",
                                         response.accepted_sequence()),
                             "it acknowledged what was never sent");
  }
  const std::lock_guard lock(mutex_);
  answered_ = answered_ || (believed && response.accepted_sequence() > 0);
  waiting_since_ = std::chrono::steady_clock::now();
}

// We number every event: who refuses one without a number reads another protocol.
void EventStream::NotUnderstood(const v1::Rejection& rejection) {
  const std::string reason = fmt::format(
      "it does not understand this version's events ({}); if the master is of version "
      "0.1, update it",
      rejection.reason());
  shared_->transport.Error(reason, reason);
  shared_->trouble.Refused(rejection.code(), reason);
  shared_->inbox.Wake();
}

void EventStream::OnDone(const grpc::Status& status) {
  const std::shared_ptr<Shared> shared = shared_;  // a reader of the status may destroy this
  {
    const std::lock_guard lock(mutex_);
    // A copy of its texts takes memory.
    if (!Guarded(*shared, [&] { status_ = status; })) status_.emplace();
    ended_.notify_all();
  }
  shared->inbox.Wake();
}

bool EventStream::connected() const {
  const std::lock_guard lock(mutex_);
  return connected_;
}

bool EventStream::answered() const {
  const std::lock_guard lock(mutex_);
  return answered_;
}

Instant EventStream::waiting_since() const {
  const std::lock_guard lock(mutex_);
  return waiting_since_;
}

std::optional<grpc::Status> EventStream::ended() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

bool EventStream::WaitUntilEnded(Instant deadline) {
  std::unique_lock lock(mutex_);
  return ended_.wait_until(lock, deadline, [&] { return status_.has_value(); });
}

}  // namespace tidemark::agent
