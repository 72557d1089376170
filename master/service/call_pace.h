// How many calls a second one caller may make, so that the others are answered in time.
//
// Each caller has a bucket that empties at `calls_per_second`. A call adds one to it, and one more
// for every millisecond that answering it takes; who has filled it waits, for five seconds or so at
// most: one long estimate must not shut out all who share its token. Streams of agents are no calls
// in this sense.
//
// Thread-safe. Knows no clock. O(1) amortised. Memory: the callers of the last seconds.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

namespace tidemark::service {

// The limit that a refusal names (tidemark/limit.h).
inline constexpr char kCallsLimit[] = "calls_per_second";
// In such a refusal, the time to wait, as absl::FormatDuration() writes it.
inline constexpr char kRetryPayload[] = "tidemark/retry_delay";
// That time; zero in any other Status.
absl::Duration RetryDelayOf(const absl::Status& status);

class CallPace {
 public:
  // 0: no limit.
  explicit CallPace(double calls_per_second) : rate_(calls_per_second) {}

  // Counts a call, or says how long to wait: ResourceExhausted, with RetryDelayOf().
  absl::Status Enter(const std::string& caller, absl::Time now);
  // Adds the time that it took to answer.
  void Charge(const std::string& caller, absl::Duration took, absl::Time now);
  std::size_t callers() const;

 private:
  struct Bucket {
    double calls = 0;
    absl::Time at = absl::InfinitePast();
  };
  // Brings it up to date. REQUIRES: mutex_ is held.
  Bucket& BucketOf(const std::string& caller, absl::Time now);
  void Prune(absl::Time now);
  void Empty(Bucket& bucket, absl::Time now) const;

  const double rate_;
  mutable std::mutex mutex_;  // guards all below
  absl::flat_hash_map<std::string, Bucket> buckets_;
  std::size_t pruned_at_ = 1024;  // buckets
};

}  // namespace tidemark::service
