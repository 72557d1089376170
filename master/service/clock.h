// The master's clock: the wall clock as it was once, and monotonic time since.
//
// Estimates live on differences of instants. A wall clock that is set back would freeze them all
// until it has caught up, one that is set forward would end running jobs as abandoned; neither
// moves this one. The price: the dates it tells are off by what the wall clock was set since the
// master started.
#pragma once

#include <chrono>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace tidemark::service {

class Clock {
 public:
  // Reads `wall` once.
  explicit Clock(absl::Time (*wall)() = absl::Now) : began_at_(wall()) {}

  // Never goes back, never stands still. Thread-safe.
  absl::Time Now() const {
    return began_at_ + absl::FromChrono(std::chrono::steady_clock::now() - began_);
  }

  // Goes on from `at`, if that is later than now: what was logged at a later instant is taken up.
  // REQUIRES: no other thread uses the clock yet.
  void NotBefore(absl::Time at) {
    if (const absl::Time now = Now(); now < at) began_at_ += at - now;
  }

 private:
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  absl::Time began_at_;
};

}  // namespace tidemark::service
