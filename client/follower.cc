#include "client/follower.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/time/clock.h"
#include "proto/wire/error_details.h"
#include "transport/channel.h"
#include "transport/turn_queue.h"

namespace tidemark::client {

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  absl::Status error(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  if (!status.error_details().empty()) {
    error.SetPayload(wire::kErrorDetailsPayload, absl::Cord(status.error_details()));
  }
  return error;
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> MasterChannel(const std::string& address,
                                                             const ClientSecurity& security) {
  grpc::ChannelArguments arguments;
  // Ignores HTTP proxy settings, which are not meant for masters.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Reconnects soon after the master is back.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 200);
  // Also limits the duration of a connection attempt.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 2000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  // Detects a host that has vanished without closing its connections.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  return transport::MakeChannel(address, security, arguments);
}

namespace {

constexpr absl::Duration kFirstPause = absl::Milliseconds(200);
// Longest pause between attempts. Also the time after which a stream counts as recovered.
constexpr absl::Duration kLongestPause = absl::Seconds(2);
// Upper limit of a pause that the master requests. Chosen by hand.
constexpr absl::Duration kLongestDelay = absl::Minutes(1);
// Shortest interval between checks for silence, even if mute_after is shorter. Chosen by hand.
constexpr absl::Duration kShortestLook = absl::Milliseconds(10);
constexpr absl::Duration kLongestLook = absl::Minutes(1);

std::string ReasonOf(const absl::Status& status) {
  return transport::PlainReason(std::string(status.message()));
}

std::string Seconds(absl::Duration duration) {
  return fmt::format("{:.0f} s", absl::ToDoubleSeconds(duration));
}

}  // namespace

Follower::Follower(std::string address, const WatchOptions& options,
                   std::function<void(const std::string&)> on_trouble)
    : address_(std::move(address)),
      options_(options),
      mute_after_(std::max(options.mute_after, 2 * options.interval_min)),
      on_trouble_(on_trouble ? std::move(on_trouble) : [](const std::string&) {}),
      pause_(kFirstPause) {}

absl::Status Follower::Follow(const std::function<absl::Status()>& read_stream,
                              const std::stop_token& stop) {
  std::jthread listener;
  if (mute_after_ < absl::InfiniteDuration()) {
    listener = std::jthread([this](const std::stop_token& end) { CheckForSilence(end); });
  }
  for (;;) {
    BeginStream();
    absl::Status status = read_stream();
    EndStream();
    if (status.ok()) return status;
    if (stop.stop_requested()) return absl::CancelledError("stopped");
    if (!is_wanted_) return absl::CancelledError("cancelled by the caller");
    if (absl::IsCancelled(status)) {  // cancelled by a proxy or the master, not by the caller
      status = absl::UnavailableError(status.message().empty() ? "the stream was cancelled"
                                                               : status.message());
    }
    if (!MayRecover(status)) return status;
    if (!ReportTrouble(status)) {
      return absl::Status(status.code(), fmt::format("{}; stopped retrying after {}",
                                                     ReasonOf(status), Seconds(options_.patience)));
    }
    transport::AwaitStop(stop,
                         std::max(pause_, std::min(wire::RetryAfterOf(status), kLongestDelay)));
    pause_ = std::min(2 * pause_, kLongestPause);
  }
}

bool Follower::OnResponse(const std::function<bool()>& show) {
  const std::lock_guard lock(mutex_);
  const absl::Time now = absl::Now();
  const bool was_away = std::exchange(complained_of_, std::nullopt).has_value();
  if (was_away || is_silent_) on_trouble_("reconnected to the master");
  if (has_response_ && !was_away) longest_pause_ = std::max(longest_pause_, now - response_at_);
  has_response_ = true;
  has_response_in_stream_ = true;
  is_silent_ = false;
  is_wanted_ = show();
  // The time in a slow callback does not count as silence of the master.
  response_at_ = absl::Now();
  return is_wanted_;
}

void Follower::BeginStream() {
  const std::lock_guard lock(mutex_);
  is_listening_ = true;
  has_response_in_stream_ = false;
  response_at_ = stream_began_at_ = absl::Now();
}

void Follower::EndStream() {
  const std::lock_guard lock(mutex_);
  is_listening_ = false;
  // A single response does not prove recovery, since a failing master may break every stream after
  // its first response.
  if (!has_response_in_stream_ || absl::Now() - stream_began_at_ < kLongestPause) return;
  troubled_since_.reset();
  pause_ = kFirstPause;
}

void Follower::CheckForSilence(const std::stop_token& end) {
  while (!end.stop_requested()) {
    transport::AwaitStop(end, std::clamp(mute_after_ / 10, kShortestLook, kLongestLook));
    const std::lock_guard lock(mutex_);
    const absl::Duration pause = absl::Now() - response_at_;
    if (!is_listening_ || is_silent_ || complained_of_) continue;
    if (MayBeAbsent()) continue;  // No response may be due yet.
    if (pause < std::max(mute_after_, 3 * longest_pause_)) continue;
    is_silent_ = true;
    on_trouble_(fmt::format("no response from the master at {} for {}", address_, Seconds(pause)));
  }
}

// Returns false for errors that a retry cannot resolve. A stream that ends early may recover, since
// a master may have shut down. A job that the master has dropped may also appear, since the job may
// be reported again.
bool Follower::MayRecover(const absl::Status& status) const {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
      return false;
    default:
      return has_response_ || options_.is_to_come;
  }
}

std::string Follower::Describe(const absl::Status& status) const {
  if (absl::IsNotFound(status)) {
    return fmt::format("the master at {} no longer has the job", address_);
  }
  return fmt::format("{} the master at {}: {}",
                     has_response_ ? "disconnected from" : "cannot reach", address_,
                     ReasonOf(status));
}

// Returns false if the outage has lasted longer than options.patience.
bool Follower::ReportTrouble(const absl::Status& status) {
  const std::lock_guard lock(mutex_);
  const absl::Time now = absl::Now();
  if (!troubled_since_) troubled_since_ = now;
  const bool is_expected = MayBeAbsent() && absl::IsNotFound(status);
  if (complained_of_ != status.code() && !is_expected) {
    complained_of_ = status.code();
    on_trouble_(Describe(status) + "; retrying");
  }
  return MayBeAbsent() || now - *troubled_since_ < options_.patience;
}

}  // namespace tidemark::client
