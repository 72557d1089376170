// Converts TimeUse to and from messages. Only this file maps wait reasons to fields of messages.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "absl/time/time.h"
#include "tidemark/event.h"
#include "tidemark/wait_reason.h"

namespace tidemark::wire {

// The fields for one wait reason in `Message`, which is v1::TaskHeartbeat or v1::TimeUse.
template <typename Message>
struct WaitFields {
  WaitReason reason = WaitReason::kSlots;
  bool (Message::*has_micros)() const = nullptr;
  std::uint64_t (Message::*micros)() const = nullptr;
  void (Message::*set_micros)(std::uint64_t) = nullptr;
  // Null if messages do not contain the number of bytes that were moved during this wait.
  bool (Message::*has_bytes)() const = nullptr;
  std::uint64_t (Message::*bytes)() const = nullptr;
  void (Message::*set_bytes)(std::uint64_t) = nullptr;
};

template <typename Message>
inline constexpr std::array<WaitFields<Message>, kWaitReasonCount> kWaitFields = {{
    {.reason = WaitReason::kSlots,
     .has_micros = &Message::has_scheduler_wait_micros,
     .micros = &Message::scheduler_wait_micros,
     .set_micros = &Message::set_scheduler_wait_micros},
    {.reason = WaitReason::kProcessor,
     .has_micros = &Message::has_processor_wait_micros,
     .micros = &Message::processor_wait_micros,
     .set_micros = &Message::set_processor_wait_micros},
    {.reason = WaitReason::kMemory,
     .has_micros = &Message::has_memory_wait_micros,
     .micros = &Message::memory_wait_micros,
     .set_micros = &Message::set_memory_wait_micros},
    {.reason = WaitReason::kNetwork,
     .has_micros = &Message::has_network_wait_micros,
     .micros = &Message::network_wait_micros,
     .set_micros = &Message::set_network_wait_micros,
     .has_bytes = &Message::has_network_bytes,
     .bytes = &Message::network_bytes,
     .set_bytes = &Message::set_network_bytes},
    {.reason = WaitReason::kIo,
     .has_micros = &Message::has_io_wait_micros,
     .micros = &Message::io_wait_micros,
     .set_micros = &Message::set_io_wait_micros,
     .has_bytes = &Message::has_io_bytes,
     .bytes = &Message::io_bytes,
     .set_bytes = &Message::set_io_bytes},
    {.reason = WaitReason::kScan,
     .has_micros = &Message::has_scan_wait_micros,
     .micros = &Message::scan_wait_micros,
     .set_micros = &Message::set_scan_wait_micros,
     .has_bytes = &Message::has_scan_bytes,
     .bytes = &Message::scan_bytes,
     .set_bytes = &Message::set_scan_bytes},
}};

// Returns true if WaitFields and kWaitReasonTable have one row for each reason, in the same order.
template <typename Message>
constexpr bool CoversAllWaitReasons() {
  for (std::size_t i = 0; i < kWaitReasonCount; ++i) {
    const WaitFields<Message>& fields = kWaitFields<Message>[i];
    if (fields.reason != kWaitReasons[i] || fields.micros == nullptr) return false;
    if (InfoOf(fields.reason).reason != fields.reason) return false;
  }
  return true;
}

inline absl::Duration SaturatingMicroseconds(std::uint64_t micros) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max() / 1000;
  return absl::Microseconds(static_cast<std::int64_t>(std::min(micros, kMax)));
}

// Returns the duration in whole microseconds, or 0 if it is negative.
inline std::uint64_t WholeMicroseconds(absl::Duration duration) {
  return static_cast<std::uint64_t>(
             absl::ToInt64Nanoseconds(std::max(duration, absl::ZeroDuration()))) /
         1000;
}

template <typename Message>
TimeUse ParseTimes(const Message& untrusted) {
  static_assert(CoversAllWaitReasons<Message>());
  TimeUse time;
  if (untrusted.has_cpu_micros()) time.cpu = SaturatingMicroseconds(untrusted.cpu_micros());
  for (const WaitFields<Message>& fields : kWaitFields<Message>) {
    if ((untrusted.*fields.has_micros)()) {
      time.waits[fields.reason] = SaturatingMicroseconds((untrusted.*fields.micros)());
    }
    if (fields.has_bytes != nullptr && (untrusted.*fields.has_bytes)()) {
      time.moved_bytes[fields.reason] = (untrusted.*fields.bytes)();
    }
  }
  return time;
}

// Adds the known values to `message`.
template <typename Message>
void EncodeTimes(const TimeUse& time, Message& message) {
  if (time.cpu) message.set_cpu_micros(WholeMicroseconds(*time.cpu));
  for (const WaitFields<Message>& fields : kWaitFields<Message>) {
    const auto& wait = time.waits[fields.reason];
    if (wait) (message.*fields.set_micros)(WholeMicroseconds(*wait));
    const auto& bytes = time.moved_bytes[fields.reason];
    if (bytes && fields.set_bytes != nullptr) (message.*fields.set_bytes)(*bytes);
  }
}

}  // namespace tidemark::wire
