#include "client/follower.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "transport/reason.h"

namespace tidemark::next::client {
namespace {

constexpr absl::Duration kFirstPause = absl::Milliseconds(200);
constexpr absl::Duration kLongestPause = absl::Seconds(2);

// Returns early when `stop` is requested.
void Pause(absl::Duration pause, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait_for(lock, stop, absl::ToChronoMilliseconds(pause), [] { return false; });
}

std::string Seconds(absl::Duration duration) {
  return fmt::format("{:.0f} s", absl::ToDoubleSeconds(duration));
}

}  // namespace

Follower::Follower(std::string address, const WatchOptions& options,
                   std::function<void(const std::string&)> on_trouble)
    : address_(std::move(address)),
      options_(options),
      on_trouble_(on_trouble ? std::move(on_trouble) : [](const std::string&) {}),
      pause_(kFirstPause) {}

absl::Status Follower::Follow(const std::function<absl::Status()>& read_stream,
                              const std::stop_token& stop) {
  const std::jthread listener([this](const std::stop_token& end) { NoteMuteness(end); });
  for (;;) {
    SetListening(true);
    const absl::Status status = read_stream();
    SetListening(false);
    if (status.ok()) return status;
    if (stop.stop_requested()) return absl::CancelledError("stopped");
    if (!MayRecover(status)) return status;
    if (!NoteTrouble(status)) {
      return absl::UnavailableError("gave up after " + Seconds(options_.patience));
    }
    Pause(pause_, stop);
    pause_ = std::min(2 * pause_, kLongestPause);
  }
}

bool Follower::Hear(const std::function<bool()>& show) {
  const std::lock_guard lock(mutex_);
  const absl::Time now = absl::Now();
  const bool is_back = std::exchange(complained_of_, std::nullopt) || is_mute_;
  if (is_back) on_trouble_("the master is back");
  if (has_heard_ && !is_back) longest_pause_ = std::max(longest_pause_, now - heard_at_);
  has_heard_ = true;
  is_mute_ = false;
  troubled_since_.reset();
  pause_ = kFirstPause;
  const bool is_wanted = show();
  heard_at_ = absl::Now();  // a slow reader of ours is no mute master
  return is_wanted;
}

void Follower::SetListening(bool listening) {
  const std::lock_guard lock(mutex_);
  is_listening_ = listening;
  heard_at_ = absl::Now();
}

// Says it when a stream that stands brings nothing.
void Follower::NoteMuteness(const std::stop_token& end) {
  while (!end.stop_requested()) {
    Pause(options_.mute_after / 10, end);
    const std::lock_guard lock(mutex_);
    const absl::Duration pause = absl::Now() - heard_at_;
    if (!is_listening_ || is_mute_ || complained_of_) continue;
    if (options_.is_to_come && !has_heard_) continue;  // there may be nothing to say yet
    if (pause < std::max(options_.mute_after, 3 * longest_pause_)) continue;
    is_mute_ = true;
    on_trouble_(
        fmt::format("nothing heard from the master at {} for {}", address_, Seconds(pause)));
  }
}

// Not what another attempt cannot put right. A stream that ends too early is a master that goes
// away, and one that has forgotten the job may be told of it again.
bool Follower::MayRecover(const absl::Status& status) const {
  switch (status.code()) {
    case absl::StatusCode::kCancelled:
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
                     address_, transport::PlainReason(std::string(status.message())));
}

// False when patience is at its end.
bool Follower::NoteTrouble(const absl::Status& status) {
  const std::lock_guard lock(mutex_);
  const absl::Time now = absl::Now();
  if (!troubled_since_) troubled_since_ = now;
  const bool is_to_come = !has_heard_ && absl::IsNotFound(status);
  if (complained_of_ != status.code() && !is_to_come) {
    complained_of_ = status.code();
    on_trouble_(Describe(status) + "; retrying");
  }
  return options_.is_to_come || now - *troubled_since_ < options_.patience;
}

}  // namespace tidemark::next::client
