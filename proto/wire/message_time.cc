#include "proto/wire/message_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace tidemark::wire {
namespace {

// The limits of google.protobuf.Timestamp (years 1 to 9999) and Duration (10,000 years).
constexpr std::int64_t kSecondsOfYear1 = -62'135'596'800;
constexpr std::int64_t kSecondsOfYear9999 = 253'402'300'799;
constexpr std::int64_t kDurationSecondsMax = 315'576'000'000;
constexpr std::int32_t kNanosMax = 999'999'999;

absl::Status OutOfRange(const std::string& subject, std::int64_t seconds, std::int32_t nanos,
                        const char* what) {
  return absl::InvalidArgumentError(
      fmt::format("{} is {} s and {} ns; send {}", subject, seconds, nanos, what));
}

}  // namespace

absl::StatusOr<absl::Time> ParseTime(const google::protobuf::Timestamp& message,
                                     const std::string& subject) {
  const bool valid = message.seconds() >= kSecondsOfYear1 &&
                     message.seconds() <= kSecondsOfYear9999 && message.nanos() >= 0 &&
                     message.nanos() <= kNanosMax;
  if (!valid) {
    return OutOfRange(subject, message.seconds(), message.nanos(),
                      "a time from year 1 to year 9999 with 0 to 999999999 ns");
  }
  return absl::FromUnixSeconds(message.seconds()) + absl::Nanoseconds(message.nanos());
}

absl::StatusOr<absl::Duration> ParseDuration(const google::protobuf::Duration& message,
                                             const std::string& subject) {
  const std::int64_t seconds = message.seconds();
  const std::int32_t nanos = message.nanos();
  const bool same_sign = (seconds <= 0 || nanos >= 0) && (seconds >= 0 || nanos <= 0);
  const bool valid = seconds >= -kDurationSecondsMax && seconds <= kDurationSecondsMax &&
                     nanos >= -kNanosMax && nanos <= kNanosMax && same_sign;
  if (!valid) {
    return OutOfRange(
        subject, seconds, nanos,
        "from -315576000000 to 315576000000 s, and nanoseconds with the sign of the seconds");
  }
  return absl::Seconds(seconds) + absl::Nanoseconds(nanos);
}

absl::StatusOr<absl::Duration> ParseElapsed(const google::protobuf::Duration& message,
                                            const std::string& subject) {
  absl::StatusOr<absl::Duration> duration = ParseDuration(message, subject);
  if (duration.ok() && *duration < absl::ZeroDuration()) {
    return OutOfRange(subject, message.seconds(), message.nanos(), "zero or more");
  }
  return duration;
}

void EncodeTime(absl::Time time, google::protobuf::Timestamp& message) {
  const absl::Time first = absl::FromUnixSeconds(kSecondsOfYear1);
  const absl::Time last = absl::FromUnixSeconds(kSecondsOfYear9999) + absl::Nanoseconds(kNanosMax);
  const absl::Time held = std::clamp(time, first, last);
  const std::int64_t seconds = absl::ToUnixSeconds(held);  // rounds down
  message.set_seconds(seconds);
  message.set_nanos(
      static_cast<std::int32_t>(absl::ToInt64Nanoseconds(held - absl::FromUnixSeconds(seconds))));
}

void EncodeDuration(absl::Duration duration, google::protobuf::Duration& message) {
  const absl::Duration limit = absl::Seconds(kDurationSecondsMax);
  absl::Duration rest = std::clamp(duration, -limit, limit);
  message.set_seconds(absl::IDivDuration(rest, absl::Seconds(1), &rest));
  message.set_nanos(static_cast<std::int32_t>(absl::ToInt64Nanoseconds(rest)));
}

}  // namespace tidemark::wire
