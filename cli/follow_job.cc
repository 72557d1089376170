#include "cli/follow_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "cli/console/duration_text.h"
#include "cli/master_trouble.h"

namespace tidemark::cli {
namespace {

constexpr absl::Duration kFirstPause = absl::Milliseconds(200);
constexpr absl::Duration kLongestPause = absl::Seconds(2);

// Returns early when `stop` is requested.
void Pause(absl::Duration pause, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait_for(lock, stop, absl::ToChronoMilliseconds(pause), [] { return false; });
}

class Follower {
 public:
  Follower(const MasterClient& master, std::string job_id, const FollowOptions& options,
           const FollowCalls& calls)
      : master_(master), job_id_(std::move(job_id)), options_(options), calls_(calls) {}

  absl::StatusOr<Snapshot> Follow(const std::stop_token& stop) {
    for (;;) {
      const absl::Status status = master_.WatchJob(
          job_id_, sequence_, [this](const Snapshot& snapshot) { return Take(snapshot); }, stop);
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
  bool Take(const Snapshot& snapshot) {
    if (std::exchange(complained_of_, std::nullopt)) calls_.on_trouble("the master is back");
    troubled_since_.reset();
    pause_ = kFirstPause;
    sequence_ = snapshot.sequence;
    seen_ = true;
    if (snapshot.is_final()) final_ = snapshot;
    wanted_ = calls_.on_snapshot(snapshot);
    return wanted_;
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
      return fmt::format("the master at {} does not know the job any more", master_.address());
    }
    return fmt::format("{} the master at {}: {}", seen_ ? "lost" : "cannot reach",
                       master_.address(), status.ok() ? "it ended the stream" : ReasonOf(status));
  }

  // False when patience is at its end.
  bool NoteTrouble(const absl::Status& status) {
    const absl::Time now = absl::Now();
    if (!troubled_since_) troubled_since_ = now;
    const bool is_to_come = !seen_ && absl::IsNotFound(status);
    if (complained_of_ != status.code() && !is_to_come) {
      complained_of_ = status.code();
      calls_.on_trouble(Describe(status) + "; trying again");
    }
    return options_.expects_job || now - *troubled_since_ < options_.patience;
  }

  const MasterClient& master_;
  const std::string job_id_;
  const FollowOptions options_;
  const FollowCalls& calls_;
  std::uint64_t sequence_ = 0;
  bool seen_ = false;
  bool wanted_ = true;
  std::optional<Snapshot> final_;
  std::optional<absl::Time> troubled_since_;
  std::optional<absl::StatusCode> complained_of_;
  absl::Duration pause_ = kFirstPause;
};

}  // namespace

absl::StatusOr<Snapshot> FollowJob(const MasterClient& master, const std::string& job_id,
                                   const FollowOptions& options, const FollowCalls& calls,
                                   std::stop_token stop) {
  return Follower(master, job_id, options, calls).Follow(stop);
}

}  // namespace tidemark::cli
