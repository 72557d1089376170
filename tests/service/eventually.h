// Waits for a condition in tests, with a deadline that expires only if a test fails.
#pragma once

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace tidemark::test {

inline constexpr absl::Duration kPatience = absl::Seconds(60);

// Returns true when `holds` returns true, or false after kPatience.
template <typename Condition>
bool Eventually(Condition holds) {
  const absl::Time deadline = absl::Now() + kPatience;
  while (!holds()) {
    if (absl::Now() > deadline) return false;
    absl::SleepFor(absl::Milliseconds(1));
  }
  return true;
}

}  // namespace tidemark::test
