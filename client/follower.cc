#include "client/follower.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "proto/wire/error_details.h"
#include "transport/reason.h"

namespace tidemark::client {
namespace {

constexpr absl::Duration kFirstPause = absl::Milliseconds(200);
// Also how long a stream has to stand to count as a recovery.
constexpr absl::Duration kLongestPause = absl::Seconds(2);
// Of what a master asks to wait. Taste.
constexpr absl::Duration kLongestDelay = absl::Minutes(1);
// Between two looks at a silence, whatever mute_after is. Taste.
constexpr absl::Duration kShortestLook = absl::Milliseconds(10);
constexpr absl::Duration kLongestLook = absl::Minutes(1);

// Returns early when `stop` is requested.
void Pause(absl::Duration pause, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait_for(lock, stop, absl::ToChronoMilliseconds(pause), [] { return false; });
}

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
    listener = std::jthread([this](const std::stop_token& end) { NoteMuteness(end); });
  }
  for (;;) {
    BeginStream();
    absl::Status status = read_stream();
    EndStream();
    if (status.ok()) return status;
    if (stop.stop_requested()) return absl::CancelledError("stopped");
    if (!is_wanted_) return absl::CancelledError("cancelled by the caller");
    if (absl::IsCancelled(status)) {  // by a proxy, or by the master: neither speaks for us
      status = absl::UnavailableError(status.message().empty() ? "the stream was cancelled"
                                                               : status.message());
    }
    if (!MayRecover(status)) return status;
    if (!NoteTrouble(status)) {
      return absl::Status(status.code(), fmt::format("{}; gave up after {}", ReasonOf(status),
                                                     Seconds(options_.patience)));
    }
    Pause(std::max(pause_, std::min(wire::RetryAfterOf(status), kLongestDelay)), stop);
    pause_ = std::min(2 * pause_, kLongestPause);
  }
}

bool Follower::Hear(const std::function<bool()>& show) {
  const std::lock_guard lock(mutex_);
  const absl::Time now = absl::Now();
  const bool was_away = std::exchange(complained_of_, std::nullopt).has_value();
  if (was_away || is_mute_) on_trouble_("the master is back");
  if (has_heard_ && !was_away) longest_pause_ = std::max(longest_pause_, now - heard_at_);
  has_heard_ = true;
  has_brought_ = true;
  is_mute_ = false;
  is_wanted_ = show();
  heard_at_ = absl::Now();  // a slow reader is not a silent master
  return is_wanted_;
}

void Follower::BeginStream() {
  const std::lock_guard lock(mutex_);
  is_listening_ = true;
  has_brought_ = false;
  heard_at_ = began_at_ = absl::Now();
}

void Follower::EndStream() {
  const std::lock_guard lock(mutex_);
  is_listening_ = false;
  // One response is no recovery: a master may break each stream after its first.
  if (!has_brought_ || absl::Now() - began_at_ < kLongestPause) return;
  troubled_since_.reset();
  pause_ = kFirstPause;
}

// Says it when a stream that stands brings nothing.
void Follower::NoteMuteness(const std::stop_token& end) {
  while (!end.stop_requested()) {
    Pause(std::clamp(mute_after_ / 10, kShortestLook, kLongestLook), end);
    const std::lock_guard lock(mutex_);
    const absl::Duration pause = absl::Now() - heard_at_;
    if (!is_listening_ || is_mute_ || complained_of_) continue;
    if (IsToCome()) continue;  // there may be nothing to say yet
    if (pause < std::max(mute_after_, 3 * longest_pause_)) continue;
    is_mute_ = true;
    on_trouble_(
        fmt::format("nothing heard from the master at {} for {}", address_, Seconds(pause)));
  }
}

// Not what another attempt cannot put right. A stream that ends too early is a master that goes
// away, and one that has forgotten the job may be told of it again.
bool Follower::MayRecover(const absl::Status& status) const {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
      return false;
    default:
      return has_heard_ || options_.is_to_come;
  }
}

std::string Follower::Describe(const absl::Status& status) const {
  if (absl::IsNotFound(status)) {
    return fmt::format("the master at {} no longer knows the job", address_);
  }
  return fmt::format("{} the master at {}: {}", has_heard_ ? "lost contact with" : "cannot reach",
                     address_, ReasonOf(status));
}

// False when patience is at its end.
bool Follower::NoteTrouble(const absl::Status& status) {
  const std::lock_guard lock(mutex_);
  const absl::Time now = absl::Now();
  if (!troubled_since_) troubled_since_ = now;
  const bool is_expected = IsToCome() && absl::IsNotFound(status);
  if (complained_of_ != status.code() && !is_expected) {
    complained_of_ = status.code();
    on_trouble_(Describe(status) + "; retrying");
  }
  return IsToCome() || now - *troubled_since_ < options_.patience;
}

}  // namespace tidemark::client
