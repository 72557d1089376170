// The agent's clocks: the monotonic clock for durations and the wall clock for timestamps of
// events.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace tidemark::agent {

using Instant = std::chrono::steady_clock::time_point;

// Returns nanoseconds since an arbitrary origin. The value fits into an atomic.
inline std::int64_t NowNanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Clamps the span to a day, so that an infinite budget does not overflow.
inline Instant After(Instant start, absl::Duration span) {
  const absl::Duration held = std::clamp(span, absl::ZeroDuration(), absl::Hours(24));
  return start + absl::ToChronoNanoseconds(held);
}

// Simultaneous readings of both clocks, which convert monotonic times to wall time.
struct ClockReading {
  absl::Time wall;
  std::int64_t monotonic_nanos = 0;

  static ClockReading Now() { return {absl::Now(), NowNanos()}; }
  absl::Duration Since(std::int64_t nanos) const {
    return absl::Nanoseconds(std::max<std::int64_t>(0, monotonic_nanos - nanos));
  }
  absl::Time ToWall(std::int64_t nanos) const { return wall - Since(nanos); }
};

// The source of time for measurements: the clocks of this machine, or a simulated clock.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual ClockReading Now() const { return ClockReading::Now(); }
  virtual std::int64_t Nanos() const { return NowNanos(); }  // the monotonic clock
};

inline const Clock& SystemClock() {
  static const Clock* const kClock = new Clock;
  return *kClock;
}

}  // namespace tidemark::agent
