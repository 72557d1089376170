#include "master/service/call_pace.h"

#include <fmt/format.h>

#include <algorithm>

#include "absl/strings/cord.h"
#include "text/duration_text.h"
#include "tidemark/limit.h"

namespace tidemark::service {
namespace {

// So many seconds' worth of calls may come at once. Taste: a page that opens with a thousand
// questions is no attack.
constexpr double kBurstSeconds = 5;
constexpr double kCallsPerSecondOfWork = 1000;
// As closely as a wait is said.
constexpr absl::Duration kTenth = absl::Milliseconds(100);

absl::Status TooManyCalls(double calls_per_second, absl::Duration wait) {
  absl::Status status = LimitExceeded(
      kCallsLimit, fmt::format("too many calls: this master answers {} a second of "
                               "one token or host; try again in {}",
                               calls_per_second, text::ElapsedText(absl::Ceil(wait, kTenth))));
  status.SetPayload(kRetryPayload, absl::Cord(absl::FormatDuration(wait)));
  return status;
}

}  // namespace

absl::Duration RetryDelayOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kRetryPayload);
  absl::Duration wait;
  if (!payload || !absl::ParseDuration(std::string(*payload), &wait)) return absl::ZeroDuration();
  return wait;
}

void CallPace::Empty(Bucket& bucket, absl::Time now) const {
  const double seconds = absl::ToDoubleSeconds(std::max(now - bucket.at, absl::ZeroDuration()));
  bucket.calls = std::max(bucket.calls - seconds * rate_, 0.0);
  bucket.at = std::max(bucket.at, now);
}

void CallPace::Prune(absl::Time now) {
  if (buckets_.size() < pruned_at_) return;
  absl::erase_if(buckets_, [&](auto& bucket) {
    Empty(bucket.second, now);
    return bucket.second.calls == 0;
  });
  pruned_at_ = 2 * buckets_.size() + 1024;
}

CallPace::Bucket& CallPace::BucketOf(const std::string& caller, absl::Time now) {
  Prune(now);
  Bucket& bucket = buckets_[caller];
  Empty(bucket, now);
  return bucket;
}

absl::Status CallPace::Enter(const std::string& caller, absl::Time now) {
  if (rate_ <= 0) return absl::OkStatus();
  const std::lock_guard lock(mutex_);
  Bucket& bucket = BucketOf(caller, now);
  const double over = bucket.calls + 1 - rate_ * kBurstSeconds;
  if (over > 0) {
    return TooManyCalls(rate_, absl::Ceil(absl::Seconds(over / rate_), absl::Milliseconds(1)));
  }
  bucket.calls += 1;
  return absl::OkStatus();
}

void CallPace::Charge(const std::string& caller, absl::Duration took, absl::Time now) {
  if (rate_ <= 0 || took <= absl::ZeroDuration()) return;
  const std::lock_guard lock(mutex_);
  Bucket& bucket = BucketOf(caller, now);
  bucket.calls = std::min(bucket.calls + absl::ToDoubleSeconds(took) * kCallsPerSecondOfWork,
                          2 * rate_ * kBurstSeconds);
}

std::size_t CallPace::callers() const {
  const std::lock_guard lock(mutex_);
  return buckets_.size();
}

}  // namespace tidemark::service
