#include "agent/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

#include "transport/channel.h"

namespace tidemark::agent {
namespace {

constexpr absl::Duration kConnectTimeout = absl::Seconds(2);
// If events wait this long without a response, the connection counts as lost, since a cut network
// causes no error. Chosen by hand: far above any pause of a healthy master.
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

// A call that gRPC has not released in time is leaked together with its channel, since the agent
// must not block. This happens only if gRPC is broken or the machine is overloaded.
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

// Reports the error and schedules the next attempt, since the missing file may exist by then.
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
