// What attempts took and waited for, from the two messages that tell it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/time/time.h"
#include "tidemark/event.h"

namespace tidemark::wire {

inline absl::Duration SaturatingMicroseconds(std::uint64_t micros) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max() / 1000;
  return absl::Microseconds(static_cast<std::int64_t>(std::min(micros, kMax)));
}

// `untrusted`: v1::TaskHeartbeat or v1::TimeUse.
template <typename Message>
TimeUse ParseTimes(const Message& untrusted) {
  TimeUse time;
  const auto keep = [](bool is_set, std::uint64_t micros, std::optional<absl::Duration>& kept) {
    if (is_set) kept = SaturatingMicroseconds(micros);
  };
  keep(untrusted.has_cpu_micros(), untrusted.cpu_micros(), time.cpu);
  keep(untrusted.has_scheduler_wait_micros(), untrusted.scheduler_wait_micros(),
       time.scheduler_wait);
  keep(untrusted.has_processor_wait_micros(), untrusted.processor_wait_micros(),
       time.processor_wait);
  keep(untrusted.has_memory_wait_micros(), untrusted.memory_wait_micros(), time.memory_wait);
  keep(untrusted.has_network_wait_micros(), untrusted.network_wait_micros(), time.network_wait);
  keep(untrusted.has_io_wait_micros(), untrusted.io_wait_micros(), time.io_wait);
  if (untrusted.has_network_bytes()) time.network_bytes = untrusted.network_bytes();
  if (untrusted.has_io_bytes()) time.io_bytes = untrusted.io_bytes();
  return time;
}

}  // namespace tidemark::wire
