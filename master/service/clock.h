// The master's clock: the wall clock at the start, plus monotonic time.
//
// Estimates depend on differences of times. If the wall clock were set back, estimates would stop
// until it catches up. If it were set forward, running jobs would be abandoned. Neither affects
// this clock, but it differs from the wall clock by all adjustments since the start.
#pragma once

#include <chrono>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace tidemark::service {

class Clock {
 public:
  // Reads `wall` once.
  explicit Clock(absl::Time (*wall)() = absl::Now) : began_at_(wall()) {}

  // Never decreases and never stops. Thread-safe.
  absl::Time Now() const {
    return began_at_ + absl::FromChrono(std::chrono::steady_clock::now() - began_);
  }

  // Continues from `at` if that is later than now, since logs may contain later times. REQUIRES: no
  // other thread uses the clock yet.
  void NotBefore(absl::Time at) {
    if (const absl::Time now = Now(); now < at) began_at_ += at - now;
  }

 private:
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  absl::Time began_at_;
};

}  // namespace tidemark::service
