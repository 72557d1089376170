#include "agent/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

#include "transport/channel.h"

namespace tidemark::agent {

EventStream::EventStream(const std::shared_ptr<grpc::Channel>& channel,
                         std::unique_ptr<grpc::ClientContext> context,
                         std::shared_ptr<Shared> shared)
    : shared_(std::move(shared)),
      stub_(v1::IngestService::NewStub(channel)),
      context_(std::move(context)) {
  shared_->outbox.Rewind();
  stub_->async()->StreamEvents(context_.get(), this);
  AddHold();  // Writes may also start outside reactions.
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
    Pump();  // More unacknowledged events may fit now.
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
  // Apply the settings before the acknowledgement wakes waiting threads.
  if (response.has_control()) {
    shared_->settings.Apply(response.control());
    shared_->inbox.Wake();
  }
  if (!response.stalled().empty()) {
    shared_->problems.OnStalled(response.stalled());
    shared_->inbox.Wake();
  }
  for (const v1::Rejection& rejection : response.rejections()) {
    // This happens before any thread that waits for the answer continues.
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
      "it does not support this version's events ({}); if the master runs version 0.1, update "
      "it",
      rejection.reason());
  shared_->transport.Error(reason, reason);
  shared_->problems.OnRejected(rejection.code(), reason);
  shared_->inbox.Wake();
}

void EventStream::OnDone(const grpc::Status& status) {
  const std::shared_ptr<Shared> shared =
      shared_;  // A thread that reads the status may destroy this object.
  {
    const std::lock_guard lock(mutex_);
    // Copying the strings may fail to allocate memory.
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

namespace {

constexpr absl::Duration kConnectTimeout = absl::Seconds(2);
// After this long without a response to waiting events, the connection counts as lost, since a cut
// network causes no error. Chosen by hand; far longer than any pause of a healthy master.
constexpr absl::Duration kAnswerTimeout = absl::Seconds(60);

// Returns true if the master rejected the call, false if the network failed.
bool IsRefusal(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::UNIMPLEMENTED:
      return true;
    default:
      return false;
  }
}

grpc::ChannelArguments ChannelOptions() {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // HTTP proxies do not apply within a cluster.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return arguments;
}

// The agent must not block, so it leaks a call that gRPC has not released in time, together with
// its channel. This happens only if gRPC has a bug or the machine is overloaded.
void Abandon(std::unique_ptr<EventStream> stream, std::shared_ptr<grpc::Channel> channel) {
  struct Abandoned {
    std::unique_ptr<EventStream> stream;
    std::shared_ptr<grpc::Channel> channel;
    Abandoned* next;
  };
  static std::atomic<Abandoned*> all{nullptr};
  auto* const abandoned =
      new (std::nothrow) Abandoned{std::move(stream), std::move(channel), all.load()};
  if (abandoned == nullptr) {
    static_cast<void>(stream.release());  // the stream holds its channel
    return;
  }
  while (!all.compare_exchange_weak(abandoned->next, abandoned)) {
  }
}

}  // namespace

absl::Duration Backoff::Next() {
  const absl::Duration full = std::exchange(next_, std::min(2 * next_, kMax));
  return full * std::uniform_real_distribution<double>(0.5, 1.0)(random_);
}

Connection::Connection(std::string address, ClientSecurity security, std::shared_ptr<Shared> shared)
    : address_(std::move(address)),
      security_(std::move(security)),
      shared_(std::move(shared)),
      backoff_(std::random_device{}()) {}

Instant Connection::Poll(Instant now) {
  if (stream_ != nullptr) {
    const std::optional<grpc::Status> status = stream_->ended();
    if (!status.has_value()) return PollStream(now);
    NoteEnd(*status, now);
  }
  if (shared_->outbox.empty()) return Instant::max();
  if (now < retry_at_) return retry_at_;
  Open(now);
  return stream_ == nullptr ? retry_at_ : connect_deadline_;
}

void Connection::Open(Instant now) {
  given_up_ = false;
  connect_deadline_ = After(now, kConnectTimeout);
  absl::StatusOr<std::shared_ptr<grpc::Channel>> channel =
      transport::MakeChannel(address_, security_, ChannelOptions());
  if (!channel.ok()) return NoteNoChannel(channel.status(), now);
  auto context = std::make_unique<grpc::ClientContext>();
  absl::Status token = transport::AddToken(address_, security_, *context);
  if (!token.ok()) return NoteNoChannel(token, now);
  transport::AddJob(shared_->outbox.job_id(), *context);
  stream_ = std::make_unique<EventStream>(*channel, std::move(context), shared_);
  channel_ = *std::move(channel);
}

// Reports the error and schedules the next attempt, since a missing file may exist by then.
void Connection::NoteNoChannel(const absl::Status& status, Instant now) {
  const std::string reason(status.message());
  shared_->transport.Error(fmt::format("{}: {}", address_, reason), reason);
  shared_->problems.OnLocalError(reason);
  retry_at_ = After(now, backoff_.Next());
}

Instant Connection::PollStream(Instant now) {
  if (given_up_) return Instant::max();  // the end of the stream wakes this thread
  stream_->Pump();
  Instant deadline = connect_deadline_;
  if (stream_->connected()) {
    if (!shared_->outbox.has_unacknowledged()) return Instant::max();
    deadline = After(stream_->waiting_since(), kAnswerTimeout);
  }
  if (now < deadline) return deadline;
  shared_->transport.Error(fmt::format("{}: no response in time", address_), "");
  given_up_ = true;
  stream_->Cancel();
  return Instant::max();
}

void Connection::NoteEnd(const grpc::Status& status, Instant now) {
  if (stream_->connected()) shared_->transport.ConnectionLost();
  if (!status.ok() && !given_up_) {
    const std::string reason = transport::PlainReason(status.error_message());
    shared_->transport.Error(fmt::format("{}: {} (code {})", address_, status.error_message(),
                                         static_cast<int>(status.error_code())),
                             reason);
    if (IsRefusal(status)) shared_->problems.OnRejected(status.error_code(), reason);
  }
  // An accepted connection does not reset the backoff, since a master may close every connection.
  if (stream_->answered()) backoff_.Reset();
  retry_at_ = After(now, backoff_.Next());
  stream_.reset();
}

void Connection::GiveUp() {
  if (stream_ != nullptr) stream_->Cancel();
}

void Connection::Close(Instant deadline) {
  if (stream_ == nullptr) return;
  if (shared_->outbox.empty()) {
    stream_->HalfClose();
    stream_->WaitUntilEnded(deadline);
  }
  if (!stream_->ended()) {
    stream_->Cancel();
    stream_->WaitUntilEnded(std::chrono::steady_clock::now() + kCancelTimeout);
  }
  if (!stream_->ended()) Abandon(std::move(stream_), std::move(channel_));
  stream_.reset();
}

}  // namespace tidemark::agent
