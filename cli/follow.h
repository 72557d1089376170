// Follows what a master publishes, through the master's absences.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "cli/console/duration_text.h"
#include "cli/master_trouble.h"

namespace tidemark::cli {

struct FollowOptions {
  // How long a master that has once answered may stay away.
  absl::Duration patience = absl::Minutes(1);
  // What is followed is still to come: try until stopped, whatever the master says.
  bool expects_job = false;
  // Only this run of a job (Snapshot::run_uid); empty: the newest.
  std::string run_uid = {};
  // A master that says nothing for so long, or for three times its longest pause so far if that is
  // more, is mute.
  absl::Duration mute_after = absl::Seconds(10);
};

// What is told on the way, one call at a time.
template <typename S>
struct BasicFollowCalls {
  std::function<bool(const S&)> on_snapshot;  // false: stop
  std::function<void(const std::string&)> on_trouble;
};

inline constexpr absl::Duration kFirstPause = absl::Milliseconds(200);
inline constexpr absl::Duration kLongestPause = absl::Seconds(2);

// Returns early when `stop` is requested.
inline void Pause(absl::Duration pause, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait_for(lock, stop, absl::ToChronoMilliseconds(pause), [] { return false; });
}

// S: what is followed, with a sequence and is_final().
template <typename S>
class Follower {
 public:
  using Watch = std::function<absl::Status(std::uint64_t after_sequence,
                                           const std::function<bool(const S&)>& on_snapshot,
                                           const std::stop_token& stop)>;
  // `what`: "job" or the like; all must outlive the follower.
  Follower(Watch watch, std::string address, const char* what, const FollowOptions& options,
           const BasicFollowCalls<S>& calls)
      : watch_(std::move(watch)),
        address_(std::move(address)),
        what_(what),
        options_(options),
        calls_(calls) {}

  absl::StatusOr<S> Follow(const std::stop_token& stop) {
    const std::jthread listener([this](const std::stop_token& end) { NoteMuteness(end); });
    for (;;) {
      SetListening(true);
      const absl::Status status = watch_(
          sequence_, [this](const S& snapshot) { return Take(snapshot); }, stop);
      SetListening(false);
      if (final_) return *std::move(final_);
      if (stop.stop_requested() || !wanted_) return absl::CancelledError("nobody watches any more");
      if (!MayRecover(status)) return status;
      if (!NoteTrouble(status)) {
        return absl::UnavailableError(
            fmt::format("gave up after {}", console::DurationText(options_.patience)));
      }
      Pause(pause_, stop);
      pause_ = std::min(2 * pause_, kLongestPause);
    }
  }

 private:
  bool Take(const S& snapshot) {
    const std::lock_guard lock(mutex_);
    const absl::Time now = absl::Now();
    const bool is_back = std::exchange(complained_of_, std::nullopt) || is_mute_;
    if (is_back) calls_.on_trouble("the master is back");
    if (seen_ && !is_back) longest_pause_ = std::max(longest_pause_, now - heard_at_);
    heard_at_ = now;
    is_mute_ = false;
    troubled_since_.reset();
    pause_ = kFirstPause;
    sequence_ = snapshot.sequence;
    seen_ = true;
    if (snapshot.is_final()) final_ = snapshot;
    wanted_ = calls_.on_snapshot(snapshot);
    heard_at_ = absl::Now();  // a slow reader of ours is no mute master
    return wanted_;
  }

  void SetListening(bool listening) {
    const std::lock_guard lock(mutex_);
    is_listening_ = listening;
    heard_at_ = absl::Now();
  }

  // Says it when a stream that stands brings nothing.
  void NoteMuteness(const std::stop_token& end) {
    while (!end.stop_requested()) {
      Pause(options_.mute_after / 10, end);
      const std::lock_guard lock(mutex_);
      const absl::Duration pause = absl::Now() - heard_at_;
      const bool is_new = is_listening_ && !is_mute_ && !complained_of_ && wanted_ && !final_;
      if (!is_new || pause < std::max(options_.mute_after, 3 * longest_pause_)) continue;
      is_mute_ = true;
      calls_.on_trouble(fmt::format("nothing heard from the master at {} for {}", address_,
                                    console::DurationText(pause)));
    }
  }

  // What no other attempt can put right. A stream that ends without a final snapshot is a master
  // that goes away, and one that has forgotten the job may be told of it again.
  static bool IsHopeless(const absl::Status& status) {
    return absl::IsInvalidArgument(status) || absl::IsUnimplemented(status) ||
           absl::IsPermissionDenied(status) || absl::IsUnauthenticated(status);
  }

  bool MayRecover(const absl::Status& status) const {
    return (seen_ || options_.expects_job) && !IsHopeless(status);
  }

  std::string Describe(const absl::Status& status) const {
    if (absl::IsNotFound(status)) {
      return fmt::format("the master at {} no longer knows the {}", address_, what_);
    }
    return fmt::format("{} the master at {}: {}", seen_ ? "lost contact with" : "cannot reach",
                       address_, status.ok() ? "it ended the stream" : ReasonOf(status));
  }

  // False when patience is at its end.
  bool NoteTrouble(const absl::Status& status) {
    const std::lock_guard lock(mutex_);
    const absl::Time now = absl::Now();
    if (!troubled_since_) troubled_since_ = now;
    const bool is_to_come = !seen_ && absl::IsNotFound(status);
    if (complained_of_ != status.code() && !is_to_come) {
      complained_of_ = status.code();
      calls_.on_trouble(Describe(status) + "; retrying");
    }
    return options_.expects_job || now - *troubled_since_ < options_.patience;
  }

  const Watch watch_;
  const std::string address_;
  const char* const what_;
  const FollowOptions options_;
  const BasicFollowCalls<S>& calls_;
  std::mutex mutex_;  // guards all below while the listener lives; held during calls
  bool is_listening_ = false;
  bool is_mute_ = false;  // and that was said
  absl::Time heard_at_;
  absl::Duration longest_pause_;
  std::uint64_t sequence_ = 0;
  bool seen_ = false;
  bool wanted_ = true;
  std::optional<S> final_;
  std::optional<absl::Time> troubled_since_;
  std::optional<absl::StatusCode> complained_of_;
  absl::Duration pause_ = kFirstPause;
};

}  // namespace tidemark::cli
