#include "agent/event_stream.h"

#include <fmt/format.h>

#include <utility>

#include "agent/shared.h"

namespace tidemark::agent {

EventStream::EventStream(const std::shared_ptr<grpc::Channel>& channel,
                         std::unique_ptr<grpc::ClientContext> context,
                         std::shared_ptr<Shared> shared)
    : shared_(std::move(shared)),
      stub_(v1::IngestService::NewStub(channel)),
      context_(std::move(context)) {
  shared_->outbox.Rewind();
  stub_->async()->StreamEvents(context_.get(), this);
  AddHold();  // writes also start outside of reactions
  StartRead(&response_);
  StartCall();
  // gRPC now refers to this object, which must live until ended().
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
  // Called without the lock, since the reaction may run on this thread.
  if (request != nullptr) StartWrite(request);
}

void EventStream::HalfClose() {
  {
    const std::lock_guard lock(mutex_);
    half_close_wanted_ = true;
  }
  HalfCloseIfRequested();
}

void EventStream::HalfCloseIfRequested() {
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
  HalfCloseIfRequested();
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
    Pump();  // more unacknowledged events may fit now
  });
  if (!done) BreakOff();
}

// Prevents further writes, so that gRPC may finish the call.
void EventStream::EndWrites() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  ReleaseIfClosed();
}

// Cancels the call after an exception.
void EventStream::BreakOff() {
  Cancel();
  EndWrites();
}

void EventStream::Take(const v1::StreamEventsResponse& response) {
  // The agent opens only source 0. Responses for other handles are ignored.
  if (response.handle() != 0) return;
  // Applied first, so that it is in effect for threads that wait for the acknowledgement.
  if (response.has_control()) {
    shared_->settings.Apply(response.control());
    shared_->inbox.Wake();
  }
  if (!response.stalled().empty()) {
    shared_->problems.OnStalled(response.stalled());
    shared_->inbox.Wake();
  }
  for (const v1::Rejection& rejection : response.rejections()) {
    // Done before any thread that waits for the answer continues.
    const bool is_of_job = rejection.code() == static_cast<int>(grpc::StatusCode::ALREADY_EXISTS);
    if (is_of_job) shared_->transport.JobRefused(rejection.reason());
    if (rejection.sequence() == 0) {
      NotUnderstood(rejection);
      continue;
    }
    if (!shared_->outbox.Reject(rejection.sequence())) continue;
    shared_->transport.Error(
        fmt::format("event {} was rejected: {} (code {})", rejection.sequence(), rejection.reason(),
                    rejection.code()),
        rejection.reason());
    // AgentStats::job_refusal reports rejections of the job to the engine.
    if (!is_of_job) shared_->problems.OnRejected(rejection.code(), rejection.reason());
    shared_->inbox.Wake();
  }
  if (const std::uint64_t unnamed = response.unnamed_rejections(); unnamed > 0) {
    shared_->transport.Error(fmt::format("{} more events were rejected", unnamed),
                             "it rejected further events without a reason");
  }
  const bool believed =
      shared_->outbox.Acknowledge(response.accepted_sequence(), response.unnamed_rejections());
  if (!believed) {
    shared_->transport.Error(fmt::format("the master acknowledged event {}, which was never sent",
                                         response.accepted_sequence()),
                             "it acknowledged an event that was never sent");
  }
  const std::lock_guard lock(mutex_);
  answered_ = answered_ || (believed && response.accepted_sequence() > 0);
  waiting_since_ = std::chrono::steady_clock::now();
}

// Every event has a number, so a rejection without one belongs to another protocol.
void EventStream::NotUnderstood(const v1::Rejection& rejection) {
  const std::string reason = fmt::format(
      "it does not understand this version's events ({}); if the master runs version 0.1, update "
      "it",
      rejection.reason());
  shared_->transport.Error(reason, reason);
  shared_->problems.OnRejected(rejection.code(), reason);
  shared_->inbox.Wake();
}

void EventStream::OnDone(const grpc::Status& status) {
  const std::shared_ptr<Shared> shared =
      shared_;  // a thread that reads the status may destroy this
  {
    const std::lock_guard lock(mutex_);
    // The copies of the texts may fail to allocate memory.
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
